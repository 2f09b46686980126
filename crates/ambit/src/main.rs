//! The `ambit` binary.

fn main() -> std::process::ExitCode {
    ambit::cli::main()
}
