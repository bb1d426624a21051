//! What a profile of AWS says: the files that its own clients read, of which `object_store` reads none.

use std::collections::BTreeMap;
use std::path::PathBuf;

use configparser::ini::Ini;

/// Keys of profiles, and what the client calls them.
const KEYS: [(&str, &str); 6] = [
    ("aws_access_key_id", "aws_access_key_id"),
    ("aws_secret_access_key", "aws_secret_access_key"),
    ("aws_session_token", "aws_session_token"),
    ("region", "aws_region"),
    ("endpoint_url", "aws_endpoint_url"),
    ("web_identity_token_file", "aws_web_identity_token_file"),
];

/// The options of the profile in use, by what the client calls them; none where the variables have keys, which come first.
pub(crate) fn options(variable: impl Fn(&str) -> Option<String>) -> Vec<(String, String)> {
    let name = variable("AWS_PROFILE").or_else(|| variable("AWS_DEFAULT_PROFILE"));
    let has_keys = variable("AWS_ACCESS_KEY_ID").is_some();
    let home = variable("HOME").or_else(|| variable("USERPROFILE")).map(|home| PathBuf::from(home).join(".aws"));
    let file = |of: &str, own: &str| variable(of).map(PathBuf::from).or_else(|| Some(home.as_ref()?.join(own)));
    let name = name.unwrap_or_else(|| "default".to_owned());
    let mut found = BTreeMap::new();
    let in_config = if name == "default" { name.clone() } else { format!("profile {name}") };
    let files =
        [(file("AWS_CONFIG_FILE", "config"), in_config), (file("AWS_SHARED_CREDENTIALS_FILE", "credentials"), name)];
    for (path, section) in files {
        let text = path.and_then(|path| std::fs::read_to_string(path).ok());
        found.extend(text.map(|text| in_section(&text, &section)).unwrap_or_default());
    }
    let is_key = |option: &str| option.starts_with("aws_access") || option.starts_with("aws_se");
    found.into_iter().filter(|(option, _)| !(has_keys && is_key(option))).collect()
}

fn in_section(text: &str, section: &str) -> BTreeMap<String, String> {
    let mut ini = Ini::new_cs();
    // A file that nobody can read says nothing.
    let sections = ini.read(text.to_owned()).unwrap_or_default();
    let Some(said) = sections.get(section) else { return BTreeMap::new() };
    let option = |(key, option): (&str, &str)| Some((option.to_owned(), said.get(key)?.clone()?));
    KEYS.into_iter().filter_map(option).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_has_keys_in_one_file_and_a_region_in_another() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name).display().to_string();
        let credentials = "[default]\naws_access_key_id = A\naws_secret_access_key = B/+=\n\n[lab]\naws_access_key_id=C\naws_secret_access_key=D\naws_session_token=E\n";
        std::fs::write(at("credentials"), credentials).unwrap();
        std::fs::write(
            at("config"),
            "[default]\nregion = eu-west-1\n[profile lab]\nregion=us-east-2\nendpoint_url=http://h:1\n",
        )
        .unwrap();
        let t = |profile: Option<&str>, key: Option<&str>, expected: &[(&str, &str)]| {
            let variable = |name: &str| match name {
                "AWS_PROFILE" => profile.map(str::to_owned),
                "AWS_ACCESS_KEY_ID" => key.map(str::to_owned),
                "AWS_CONFIG_FILE" => Some(at("config")),
                "AWS_SHARED_CREDENTIALS_FILE" => Some(at("credentials")),
                _ => None,
            };
            let expected: Vec<_> =
                expected.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
            assert_eq!(options(variable), expected);
        };
        t(None, None, &[("aws_access_key_id", "A"), ("aws_region", "eu-west-1"), ("aws_secret_access_key", "B/+=")]);
        t(
            Some("lab"),
            None,
            &[
                ("aws_access_key_id", "C"),
                ("aws_endpoint_url", "http://h:1"),
                ("aws_region", "us-east-2"),
                ("aws_secret_access_key", "D"),
                ("aws_session_token", "E"),
            ],
        );
        t(None, Some("X"), &[("aws_region", "eu-west-1")]);
        t(Some("nobody"), None, &[]);
    }
}
