use super::{human, shown};

/// One value of a fact.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Not known at this depth, or nowhere in the save; `null` in JSON.
    Unknown,
    /// Yes or no.
    Bool(bool),
    /// A count, shown with separators between thousands.
    Int(i64),
    /// A number that is a name for something, such as a seed or a version; shown as it is.
    Number(i64),
    /// A number with a fraction.
    Float(f64),
    /// Text from the save or about it; untrusted, show it through [`crate::model::shown`].
    Text(String),
    /// Several texts.
    List(Vec<String>),
}

impl Value {
    /// What a person reads, safe to print; none when it is not known.
    pub fn words(&self) -> Option<String> {
        Some(match self {
            Self::Unknown => return None,
            Self::Bool(true) => "yes".to_owned(),
            Self::Bool(false) => "no".to_owned(),
            Self::Int(n) => human::count(*n),
            Self::Number(n) => n.to_string(),
            Self::Float(n) => format!("{n:.2}"),
            Self::Text(text) => shown(text),
            Self::List(texts) if texts.is_empty() => "none".to_owned(),
            Self::List(texts) => texts.iter().map(|text| shown(text)).collect::<Vec<_>>().join(", "),
        })
    }
}

/// One thing that helps a person to tell two layers apart.
#[derive(Clone, Debug, PartialEq)]
pub struct Fact {
    /// The key in JSON, stable.
    pub key: &'static str,
    /// The words for a person.
    pub label: &'static str,
    /// What was found.
    pub value: Value,
}

/// The facts of a layer, in the order in which a person should read them.
///
/// A missing key means that the fact does not apply to this kind of save; [`Value::Unknown`] means that it applies
/// and is not known.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts(pub Vec<Fact>);

impl Facts {
    /// Adds a fact at the end.
    pub fn push(&mut self, key: &'static str, label: &'static str, value: Value) {
        self.0.push(Fact { key, label, value });
    }

    /// The value under a key, unless the fact does not apply.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.0.iter().find(|f| f.key == key).map(|f| &f.value)
    }

    /// The value under a key where it is a number.
    pub fn int(&self, key: &str) -> Option<i64> {
        match self.get(key) {
            Some(Value::Int(n) | Value::Number(n)) => Some(*n),
            _ => None,
        }
    }

    /// The value under a key where it is a text.
    pub fn text(&self, key: &str) -> Option<&str> {
        match self.get(key) {
            Some(Value::Text(t)) => Some(t),
            _ => None,
        }
    }
}
