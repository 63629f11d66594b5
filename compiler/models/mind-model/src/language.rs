//! Language names of speech models.

/// The language codes of Whisper, each with its English names.
const LANGUAGES: &str = "\
    en=english, zh=chinese/mandarin, de=german, es=spanish/castilian, ru=russian, ko=korean, fr=french, \
    ja=japanese, pt=portuguese, tr=turkish, pl=polish, ca=catalan/valencian, nl=dutch/flemish, ar=arabic, \
    sv=swedish, it=italian, id=indonesian, hi=hindi, fi=finnish, vi=vietnamese, he=hebrew, uk=ukrainian, \
    el=greek, ms=malay, cs=czech, ro=romanian/moldavian/moldovan, da=danish, hu=hungarian, ta=tamil, \
    no=norwegian, th=thai, ur=urdu, hr=croatian, bg=bulgarian, lt=lithuanian, la=latin, mi=maori, ml=malayalam, \
    cy=welsh, sk=slovak, te=telugu, fa=persian, lv=latvian, bn=bengali, sr=serbian, az=azerbaijani, \
    sl=slovenian, kn=kannada, et=estonian, mk=macedonian, br=breton, eu=basque, is=icelandic, hy=armenian, \
    ne=nepali, mn=mongolian, bs=bosnian, kk=kazakh, sq=albanian, sw=swahili, gl=galician, mr=marathi, \
    pa=punjabi/panjabi, si=sinhala/sinhalese, km=khmer, sn=shona, yo=yoruba, so=somali, af=afrikaans, \
    oc=occitan, ka=georgian, be=belarusian, tg=tajik, sd=sindhi, gu=gujarati, am=amharic, yi=yiddish, lo=lao, \
    uz=uzbek, fo=faroese, ht=haitian creole/haitian, ps=pashto/pushto, tk=turkmen, nn=nynorsk, mt=maltese, \
    sa=sanskrit, lb=luxembourgish/letzeburgesch, my=myanmar/burmese, bo=tibetan, tl=tagalog, mg=malagasy, \
    as=assamese, tt=tatar, haw=hawaiian, ln=lingala, ha=hausa, ba=bashkir, jw=javanese, su=sundanese, \
    yue=cantonese";

/// Returns the code of the language called `name`, case-insensitively; `None` if the name is unknown.
pub(crate) fn code(name: &str) -> Option<&'static str> {
    let rows = LANGUAGES.split(", ").filter_map(|row| row.split_once('='));
    let mut rows = rows.map(|(code, names)| (code, names.split('/')));
    let found = rows.find(|(_, names)| names.clone().any(|own| own.eq_ignore_ascii_case(name)));
    found.map(|(code, _)| code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_codes_in_either_case() {
        assert_eq!(code("German"), Some("de"));
        assert_eq!(code("haitian creole"), Some("ht"));
        assert_eq!(
            (code("cantonese"), code("castilian")),
            (Some("yue"), Some("es"))
        );
        assert_eq!((code("de"), code(""), code("klingon")), (None, None, None));
        assert_eq!(LANGUAGES.split(", ").count(), 100);
    }
}
