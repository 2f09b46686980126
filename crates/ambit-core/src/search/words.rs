//! The word lists of the analysis: what says nothing, and what the stemmer keeps apart.

/// Words of any sentence, which say nothing about what it is about. Sorted.
const STOP_WORDS: &[&str] = &[
    "a", "about", "after", "all", "also", "am", "an", "and", "any", "are", "as", "at", "be",
    "because", "been", "before", "being", "both", "but", "by", "can", "could", "d", "did", "do",
    "does", "doing", "don", "each", "for", "from", "further", "had", "has", "have", "having", "he",
    "her", "here", "hers", "him", "his", "how", "i", "if", "in", "into", "is", "it", "its",
    "itself", "just", "let", "ll", "m", "may", "me", "might", "must", "my", "of", "on", "or",
    "our", "ours", "please", "re", "s", "shall", "she", "should", "so", "some", "such", "t",
    "than", "that", "the", "their", "them", "then", "there", "these", "they", "this", "those",
    "to", "too", "us", "ve", "very", "was", "we", "were", "what", "when", "where", "which",
    "while", "who", "whom", "why", "will", "with", "would", "you", "your", "yours",
];

/// Whether a lower-case word says nothing.
pub(crate) fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.binary_search(&word).is_ok()
}

/// Words of asking that may also be part of what is asked for. Sorted.
const ASKING_WORDS: &[&str] = &[
    "anything",
    "assist",
    "assistance",
    "curious",
    "give",
    "hello",
    "help",
    "hey",
    "hi",
    "interested",
    "know",
    "like",
    "look",
    "looking",
    "love",
    "many",
    "much",
    "need",
    "now",
    "ok",
    "really",
    "something",
    "sure",
    "tell",
    "thank",
    "thanks",
    "think",
    "trying",
    "want",
    "wanted",
    "wondering",
];

/// Whether a lower-case word mostly just asks.
pub(crate) fn is_asking_word(word: &str) -> bool {
    ASKING_WORDS.binary_search(&word).is_ok()
}

/// Stems of one word family that the stemmer leaves apart, each with the one that stands for
/// all. Forms of the same word only: no synonyms. Sorted.
pub(crate) const IRREGULAR: &[(&str, &str)] = &[
    ("acquisit", "acquir"),
    ("analys", "analyz"),
    ("analysi", "analyz"),
    ("analyst", "analyz"),
    ("analyt", "analyz"),
    ("applic", "appli"),
    ("behaviour", "behavior"),
    ("bought", "buy"),
    ("buyer", "buy"),
    ("catalogu", "catalog"),
    ("categori", "categor"),
    ("centr", "center"),
    ("chemistri", "chemic"),
    ("children", "child"),
    ("choic", "choos"),
    ("chosen", "choos"),
    ("classif", "classifi"),
    ("colour", "color"),
    ("comparison", "compar"),
    ("convers", "convert"),
    ("convolut", "convolv"),
    ("creation", "creat"),
    ("creator", "creat"),
    ("daili", "day"),
    ("decis", "decid"),
    ("decomposit", "decompos"),
    ("descript", "describ"),
    ("diagnosi", "diagnos"),
    ("diagnost", "diagnos"),
    ("divis", "divid"),
    ("drawn", "draw"),
    ("environ", "environment"),
    ("expans", "expand"),
    ("explan", "explain"),
    ("extens", "extend"),
    ("financi", "financ"),
    ("geometri", "geometr"),
    ("growth", "grow"),
    ("histori", "histor"),
    ("hypothesi", "hypothes"),
    ("ident", "identifi"),
    ("identif", "identifi"),
    ("indic", "index"),
    ("investor", "invest"),
    ("known", "know"),
    ("loss", "lose"),
    ("lost", "lose"),
    ("made", "make"),
    ("mainten", "maintain"),
    ("matric", "matrix"),
    ("medicin", "medic"),
    ("men", "man"),
    ("modif", "modifi"),
    ("multipl", "multipli"),
    ("musician", "music"),
    ("notif", "notifi"),
    ("optimis", "optim"),
    ("organis", "organ"),
    ("paid", "pay"),
    ("payment", "pay"),
    ("peopl", "person"),
    ("permiss", "permit"),
    ("photograph", "photo"),
    ("photographi", "photo"),
    ("prescript", "prescrib"),
    ("programm", "program"),
    ("pronunci", "pronounc"),
    ("receipt", "receiv"),
    ("recept", "receiv"),
    ("resolut", "resolv"),
    ("respons", "respond"),
    ("sale", "sell"),
    ("scientif", "scienc"),
    ("seller", "sell"),
    ("sent", "send"),
    ("shipment", "ship"),
    ("sold", "sell"),
    ("solut", "solv"),
    ("solver", "solv"),
    ("specif", "specifi"),
    ("speech", "speak"),
    ("spoken", "speak"),
    ("submiss", "submit"),
    ("subscript", "subscrib"),
    ("summari", "summar"),
    ("summaris", "summar"),
    ("synthesi", "synthes"),
    ("taken", "take"),
    ("took", "take"),
    ("transcript", "transcrib"),
    ("transmiss", "transmit"),
    ("verif", "verifi"),
    ("vertic", "vertex"),
    ("weigh", "weight"),
    ("women", "woman"),
    ("written", "write"),
    ("wrote", "write"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_sorted() {
        assert!(STOP_WORDS.is_sorted());
        assert!(ASKING_WORDS.is_sorted());
        assert!(IRREGULAR.is_sorted());
        let chained = IRREGULAR
            .iter()
            .find(|(_, to)| IRREGULAR.iter().any(|it| it.0 == *to));
        assert_eq!(chained, None);
    }
}
