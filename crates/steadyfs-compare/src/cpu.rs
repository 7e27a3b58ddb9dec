//! A processor by its name and clock, as text: `cortex-m3@72MHz`.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A processor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cpu {
    /// Its name, in small letters.
    pub name: String,
    /// Its clock in hertz.
    pub clock_hz: u64,
    /// Mean cycles of an instruction.
    pub cycles_per_instruction: f64,
}

/// The known processors, and the mean cycles of an instruction with flash that keeps pace.
const KNOWN: [(&str, f64); 1] = [("cortex-m3", 1.3)];

impl Cpu {
    /// Returns the time of a number of instructions, in microseconds.
    pub fn time_us(&self, instructions: u64) -> f64 {
        instructions as f64 * self.cycles_per_instruction / self.clock_hz as f64 * 1e6
    }
}

impl FromStr for Cpu {
    type Err = String;

    fn from_str(text: &str) -> Result<Cpu, String> {
        let expected =
            || format!("expected a processor and its clock, such as {}@72MHz", KNOWN[0].0);
        let (name, clock) = text.split_once('@').ok_or_else(expected)?;
        let (name, cycles_per_instruction) =
            KNOWN.into_iter().find(|(known, _)| *known == name).ok_or_else(expected)?;
        let units = [("kHz", 1e3), ("MHz", 1e6), ("GHz", 1e9), ("Hz", 1.0)];
        let clock_hz = units
            .into_iter()
            .find_map(|(unit, factor)| Some((clock.strip_suffix(unit)?, factor)))
            .and_then(|(number, factor)| Some(number.parse::<f64>().ok()? * factor))
            .filter(|clock| (1e3..=1e11).contains(clock))
            .ok_or_else(expected)?;
        let clock_hz = clock_hz.round() as u64;
        Ok(Cpu { name: name.to_string(), clock_hz, cycles_per_instruction })
    }
}

impl fmt::Display for Cpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, hz) = (&self.name, self.clock_hz);
        match hz {
            _ if hz % 1_000_000 == 0 => write!(f, "{name}@{}MHz", hz / 1_000_000),
            _ if hz % 1_000 == 0 => write!(f, "{name}@{}kHz", hz / 1_000),
            _ => write!(f, "{name}@{hz}Hz"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_processor_is_read_and_written_alike() {
        for text in ["cortex-m3@72MHz", "cortex-m3@32768Hz", "cortex-m3@8500kHz"] {
            assert_eq!(text.parse::<Cpu>().unwrap().to_string(), text);
        }
        let cpu: Cpu = "cortex-m3@0.072GHz".parse().unwrap();
        assert_eq!((cpu.clock_hz, cpu.time_us(72_000_000)), (72_000_000, 1.3e6));
    }

    #[test]
    fn other_texts_are_refused_with_an_example() {
        for text in ["", "cortex-m3", "cortex-m3@", "cortex-m3@0MHz", "z80@4MHz", "cortex-m3@xHz"] {
            assert!(text.parse::<Cpu>().unwrap_err().contains("cortex-m3@72MHz"), "{text}");
        }
    }
}
