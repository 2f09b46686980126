//! The units that are known. A unit is its symbol, its names and what one of it is in the base
//! unit of its kind; a factor is a decimal or a fraction, as the standard defines it.

use num_rational::BigRational;
use num_traits::Zero as _;

use super::exact;

/// What is measured.
pub(super) struct Kind {
    pub(super) name: &'static str,
    pub(super) units: &'static [Unit],
}

/// One unit.
pub(super) struct Unit {
    /// The symbol first, then its other names, with blanks between; `-` stands for a blank in a name.
    written: &'static str,
    /// One of it in the base unit.
    factor: &'static str,
    scale: Scale,
}

/// How an amount relates to the base unit.
enum Scale {
    /// `amount · factor`
    Times,
    /// `(amount + offset) · factor`
    Shifted(&'static str),
    /// `factor / amount`
    Inverse,
}

impl Unit {
    pub(super) fn names(&self) -> impl Iterator<Item = &'static str> {
        self.written.split(' ')
    }

    pub(super) fn symbol(&self) -> &'static str {
        self.names().next().unwrap_or(self.written)
    }

    fn factor(&self) -> Option<BigRational> {
        let (numerator, denominator) = self.factor.split_once('/').unwrap_or((self.factor, "1"));
        Some(exact::parse(numerator)? / exact::parse(denominator)?)
    }

    /// The amount in the base unit, if it has one.
    pub(super) fn to_base(&self, amount: &BigRational) -> Option<BigRational> {
        let factor = self.factor()?;
        match self.scale {
            Scale::Times => Some(amount * factor),
            Scale::Shifted(offset) => Some((amount + exact::parse(offset)?) * factor),
            Scale::Inverse if amount.is_zero() => None,
            Scale::Inverse => Some(factor / amount),
        }
    }

    /// An amount in the base unit in this one, if it has one.
    pub(super) fn of_base(&self, base: &BigRational) -> Option<BigRational> {
        let factor = self.factor()?;
        match self.scale {
            Scale::Times => Some(base / factor),
            Scale::Shifted(offset) => Some(base / factor - exact::parse(offset)?),
            Scale::Inverse if base.is_zero() => None,
            Scale::Inverse => Some(factor / base),
        }
    }
}

const fn unit(written: &'static str, factor: &'static str) -> Unit {
    Unit {
        written,
        factor,
        scale: Scale::Times,
    }
}

const fn shifted(written: &'static str, factor: &'static str, offset: &'static str) -> Unit {
    Unit {
        written,
        factor,
        scale: Scale::Shifted(offset),
    }
}

const fn inverse(written: &'static str, factor: &'static str) -> Unit {
    Unit {
        written,
        factor,
        scale: Scale::Inverse,
    }
}

/// All of them.
#[rustfmt::skip]
pub(super) const KINDS: &[Kind] = &[
    Kind { name: "length", units: &[
        unit("m meter metre", "1"),
        unit("km kilometer kilometre", "1000"),
        unit("dm decimeter decimetre", "0.1"),
        unit("cm centimeter centimetre", "0.01"),
        unit("mm millimeter millimetre", "0.001"),
        unit("µm μm um micrometer micrometre micron", "1e-6"),
        unit("nm nanometer nanometre", "1e-9"),
        unit("in inch inches \"", "0.0254"),
        unit("ft foot feet '", "0.3048"),
        unit("yd yard", "0.9144"),
        unit("mi mile", "1609.344"),
        unit("nmi nautical-mile", "1852"),
        unit("au astronomical-unit", "149597870700"),
        unit("ly light-year lightyear", "9460730472580800"),
        unit("pt point", "0.0254/72"),
    ] },
    Kind { name: "area", units: &[
        unit("m² m2 m^2 square-meter square-metre sqm", "1"),
        unit("km² km2 km^2 square-kilometer square-kilometre", "1e6"),
        unit("cm² cm2 cm^2 square-centimeter square-centimetre", "1e-4"),
        unit("mm² mm2 mm^2 square-millimeter square-millimetre", "1e-6"),
        unit("ha hectare", "10000"),
        unit("are", "100"),
        unit("in² in2 in^2 square-inch square-inches sqin", "0.00064516"),
        unit("ft² ft2 ft^2 square-foot square-feet sqft", "0.09290304"),
        unit("yd² yd2 yd^2 square-yard", "0.83612736"),
        unit("mi² mi2 mi^2 square-mile", "2589988.110336"),
        unit("ac acre", "4046.8564224"),
    ] },
    Kind { name: "volume", units: &[
        unit("L l liter litre", "1"),
        unit("mL ml milliliter millilitre", "0.001"),
        unit("cL cl centiliter centilitre", "0.01"),
        unit("dL dl deciliter decilitre", "0.1"),
        unit("hL hl hectoliter hectolitre", "100"),
        unit("m³ m3 m^3 cubic-meter cubic-metre", "1000"),
        unit("cm³ cm3 cm^3 cc cubic-centimeter cubic-centimetre", "0.001"),
        unit("in³ in3 in^3 cubic-inch cubic-inches", "0.016387064"),
        unit("ft³ ft3 ft^3 cubic-foot cubic-feet", "28.316846592"),
        unit("gal gallon us-gallon", "3.785411784"),
        unit("qt quart us-quart", "0.946352946"),
        unit("pint us-pint", "0.473176473"),
        unit("cup us-cup", "0.2365882365"),
        unit("fl-oz floz fluid-ounce us-fluid-ounce", "0.0295735295625"),
        unit("tbsp tablespoon us-tablespoon", "0.01478676478125"),
        unit("tsp teaspoon us-teaspoon", "0.00492892159375"),
        unit("imp-gal imperial-gallon uk-gallon", "4.54609"),
        unit("imp-pint imperial-pint uk-pint", "0.56826125"),
        unit("imp-fl-oz imperial-fluid-ounce uk-fluid-ounce", "0.0284130625"),
        unit("bbl barrel oil-barrel", "158.987294928"),
    ] },
    Kind { name: "mass", units: &[
        unit("kg kilogram kilo", "1"),
        unit("g gram gramme", "0.001"),
        unit("mg milligram", "1e-6"),
        unit("µg μg ug mcg microgram", "1e-9"),
        unit("t tonne metric-ton", "1000"),
        unit("lb lbs pound", "0.45359237"),
        unit("oz ounce", "0.028349523125"),
        unit("st stone", "6.35029318"),
        unit("short-ton us-ton", "907.18474"),
        unit("long-ton uk-ton imperial-ton", "1016.0469088"),
        unit("ozt troy-ounce", "0.0311034768"),
        unit("ct carat", "0.0002"),
        unit("gr grain", "0.00006479891"),
    ] },
    Kind { name: "temperature", units: &[
        unit("K kelvin", "1"),
        shifted("°C C celsius degree-celsius degrees-celsius centigrade", "1", "273.15"),
        shifted("°F F fahrenheit degree-fahrenheit degrees-fahrenheit", "5/9", "459.67"),
        unit("°R rankine", "5/9"),
    ] },
    Kind { name: "time", units: &[
        unit("s sec second", "1"),
        unit("ms millisecond", "0.001"),
        unit("µs μs us microsecond", "1e-6"),
        unit("ns nanosecond", "1e-9"),
        unit("min minute", "60"),
        unit("h hr hour", "3600"),
        unit("d day", "86400"),
        unit("wk week", "604800"),
        unit("fortnight", "1209600"),
        // The mean of the Gregorian calendar: 365.2425 days.
        unit("mo month", "2629746"),
        unit("yr year y", "31556952"),
        unit("decade", "315569520"),
        unit("century centuries", "3155695200"),
    ] },
    Kind { name: "speed", units: &[
        unit("m/s mps meter-per-second metre-per-second", "1"),
        unit("km/h kph kmh kilometer-per-hour kilometers-per-hour", "1/3.6"),
        unit("mph mi/h mile-per-hour miles-per-hour", "0.44704"),
        unit("kn kt knot", "1852/3600"),
        unit("ft/s fps foot-per-second feet-per-second", "0.3048"),
        unit("c speed-of-light", "299792458"),
    ] },
    Kind { name: "data", units: &[
        unit("B byte octet", "1"),
        unit("b bit", "0.125"),
        unit("kB KB kilobyte", "1e3"),
        unit("MB megabyte", "1e6"),
        unit("GB gigabyte", "1e9"),
        unit("TB terabyte", "1e12"),
        unit("PB petabyte", "1e15"),
        unit("EB exabyte", "1e18"),
        unit("KiB kibibyte", "1024"),
        unit("MiB mebibyte", "1048576"),
        unit("GiB gibibyte", "1073741824"),
        unit("TiB tebibyte", "1099511627776"),
        unit("PiB pebibyte", "1125899906842624"),
        unit("EiB exbibyte", "1152921504606846976"),
        unit("kb kbit Kb kilobit", "125"),
        unit("Mb Mbit megabit", "125e3"),
        unit("Gb Gbit gigabit", "125e6"),
        unit("Tb Tbit terabit", "125e9"),
        unit("Kibit kibibit", "128"),
        unit("Mibit mebibit", "131072"),
        unit("Gibit gibibit", "134217728"),
    ] },
    Kind { name: "data rate", units: &[
        unit("B/s Bps byte-per-second bytes-per-second", "1"),
        unit("kB/s KB/s", "1e3"),
        unit("MB/s MBps", "1e6"),
        unit("GB/s GBps", "1e9"),
        unit("KiB/s", "1024"),
        unit("MiB/s", "1048576"),
        unit("GiB/s", "1073741824"),
        unit("b/s bps bit/s bit-per-second bits-per-second", "0.125"),
        unit("kb/s kbps kbit/s", "125"),
        unit("Mb/s Mbps Mbit/s", "125e3"),
        unit("Gb/s Gbps Gbit/s", "125e6"),
    ] },
    Kind { name: "energy", units: &[
        unit("J joule", "1"),
        unit("kJ kilojoule", "1e3"),
        unit("MJ megajoule", "1e6"),
        unit("GJ gigajoule", "1e9"),
        unit("cal calorie", "4.184"),
        unit("kcal kilocalorie", "4184"),
        unit("Wh watt-hour", "3600"),
        unit("kWh kilowatt-hour", "3.6e6"),
        unit("MWh megawatt-hour", "3.6e9"),
        unit("BTU btu british-thermal-unit", "1055.05585262"),
        unit("eV electronvolt", "1.602176634e-19"),
        unit("ft·lbf ft-lbf foot-pound", "1.3558179483314004"),
    ] },
    Kind { name: "power", units: &[
        unit("W watt", "1"),
        unit("mW milliwatt", "0.001"),
        unit("kW kilowatt", "1e3"),
        unit("MW megawatt", "1e6"),
        unit("GW gigawatt", "1e9"),
        unit("hp horsepower", "745.69987158227022"),
        unit("PS metric-horsepower", "735.49875"),
        unit("BTU/h btu/h", "1055.05585262/3600"),
    ] },
    Kind { name: "pressure", units: &[
        unit("Pa pascal", "1"),
        unit("hPa hectopascal", "100"),
        unit("kPa kilopascal", "1e3"),
        unit("MPa megapascal", "1e6"),
        unit("bar", "1e5"),
        unit("mbar millibar", "100"),
        unit("atm atmosphere", "101325"),
        unit("Torr torr", "101325/760"),
        unit("mmHg millimeter-of-mercury", "133.322387415"),
        unit("inHg inch-of-mercury", "3386.388640341"),
        unit("psi pound-per-square-inch", "4.4482216152605/0.00064516"),
    ] },
    Kind { name: "force", units: &[
        unit("N newton", "1"),
        unit("kN kilonewton", "1e3"),
        unit("dyn dyne", "1e-5"),
        unit("lbf pound-force", "4.4482216152605"),
        unit("kgf kilogram-force kilopond", "9.80665"),
    ] },
    Kind { name: "angle", units: &[
        unit("° deg degree", "1"),
        // Pi to fifty places: the only factor that is not exact.
        unit("rad radian", "180/3.14159265358979323846264338327950288419716939937511"),
        unit("gon grad gradian", "0.9"),
        unit("turn revolution", "360"),
        unit("arcmin arcminute minute-of-arc", "1/60"),
        unit("arcsec arcsecond second-of-arc", "1/3600"),
    ] },
    Kind { name: "frequency", units: &[
        unit("Hz hertz", "1"),
        unit("kHz kilohertz", "1e3"),
        unit("MHz megahertz", "1e6"),
        unit("GHz gigahertz", "1e9"),
        unit("rpm revolution-per-minute revolutions-per-minute", "1/60"),
    ] },
    Kind { name: "fuel use", units: &[
        unit("L/100km l/100km liter-per-100-km liters-per-100-km", "1"),
        inverse("km/L km/l kilometer-per-liter kilometers-per-liter", "100"),
        inverse("mpg mile-per-gallon miles-per-gallon us-mpg", "378.5411784/1.609344"),
        inverse("imp-mpg uk-mpg", "454.609/1.609344"),
    ] },
];
