//! Durations as Go prints and reads them, the form of the `timeout` parameter.

use std::fmt::Write;
use std::time::Duration;

/// `1m30s`, `1.5s`, `250ms`, `0s`.
pub(crate) fn go_duration(duration: Duration) -> String {
    if duration < Duration::from_secs(1) {
        return match duration.as_nanos() {
            0 => "0s".to_owned(),
            nanos if nanos < 1_000 => format!("{nanos}ns"),
            nanos if nanos < 1_000_000 => fraction(nanos, 1_000, "µs"),
            nanos => fraction(nanos, 1_000_000, "ms"),
        };
    }
    let (minutes, nanos) = (duration.as_secs() / 60, duration.as_nanos() % 60_000_000_000);
    let mut text = String::new();
    if minutes >= 60 {
        // Writing to a string cannot fail.
        let _ = write!(text, "{}h", minutes / 60);
    }
    if minutes > 0 {
        let _ = write!(text, "{}m", minutes % 60);
    }
    text + &fraction(nanos, 1_000_000_000, "s")
}

fn fraction(nanos: u128, unit: u128, name: &str) -> String {
    let (whole, rest) = (nanos / unit, nanos % unit);
    if rest == 0 {
        return format!("{whole}{name}");
    }
    let digits = unit.ilog10() as usize;
    let rest = format!("{rest:0digits$}");
    format!("{whole}.{}{name}", rest.trim_end_matches('0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_read_as_go_prints_them() {
        let cases = [
            (Duration::ZERO, "0s"),
            (Duration::from_nanos(7), "7ns"),
            (Duration::from_nanos(1_500), "1.5µs"),
            (Duration::from_millis(250), "250ms"),
            (Duration::from_micros(250_010), "250.01ms"),
            (Duration::from_secs(1), "1s"),
            (Duration::from_millis(1_500), "1.5s"),
            (Duration::from_secs(60), "1m0s"),
            (Duration::from_millis(90_050), "1m30.05s"),
            (Duration::from_secs(3_600), "1h0m0s"),
            (Duration::from_secs(90_061), "25h1m1s"),
        ];
        for (duration, text) in cases {
            assert_eq!(go_duration(duration), text);
        }
    }
}
