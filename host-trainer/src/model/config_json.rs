//! The configuration as JSON, with the fields of the reference's `Config`.
use std::fmt::Display;

use kibitzer_core::net::{self, Config};
use serde_json::Value;

/// Reads a configuration; a field that this program does not know is an error, because leaving
/// it out would build another network.
///
/// # Errors
/// What is wrong, in words.
pub fn config_from_json(text: &str) -> Result<Config, String> {
    let explain = |error: &dyn Display| format!("the configuration is broken ({error})");
    let given: Value = serde_json::from_str(text).map_err(|error| explain(&error))?;
    let known = serde_json::to_value(Config::default()).map_err(|error| explain(&error))?;
    let Some(fields) = given.as_object() else {
        return Err("the configuration is not a JSON object".into());
    };
    if let Some(field) = fields.keys().find(|&field| known.get(field).is_none()) {
        return Err(format!("the configuration has an unknown field {field}"));
    }
    let config: Config = serde_json::from_value(given).map_err(|error| explain(&error))?;
    config.validate().map_err(|error| error.to_string())?;
    Ok(config)
}

/// The configuration as the reference writes it.
pub fn config_to_json(config: &Config) -> String {
    serde_json::to_string(config).expect("a configuration of numbers and names is JSON")
}

/// The hash of the architecture as it stands in files and errors: 16 hexadecimal digits.
pub fn hash_text(config: &Config) -> String {
    format!("{:016x}", net::hash(config))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_configuration_comes_back() {
        let config = net::preset("demo").unwrap().config();
        assert_eq!(config_from_json(&config_to_json(&config)), Ok(config));
        assert_eq!(config_from_json("{}"), Ok(Config::default()));
    }

    #[test]
    fn unknown_and_impossible_fields_are_refused() {
        for (text, error) in [
            (r#"{"depth": 3}"#, "the configuration has an unknown field depth"),
            (r#"{"heads": 7}"#, "configuration field heads must divide width"),
            ("[]", "the configuration is not a JSON object"),
        ] {
            assert_eq!(config_from_json(text).unwrap_err(), error);
        }
        assert!(config_from_json(r#"{"width": -1}"#).is_err());
        assert!(config_from_json("{").is_err());
    }
}
