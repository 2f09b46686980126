mod duty;
mod tools;
