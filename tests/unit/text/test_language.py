"""The language of a text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geomi.text.language import CONFIRM_CHARS, CONFIRM_WORDS, SAMPLE_CHARS, language_of

SAMPLES = {
    "en": "The quick start shows how to install the package and run the server with it.",
    "de": "Die Anleitung zeigt, wie das Paket installiert und der Server gestartet wird.",
    "fr": "Ce guide montre comment installer le paquet et lancer le serveur dans la console.",
    "es": "Esta guía muestra cómo instalar el paquete y ejecutar el servidor en la terminal.",
    "it": "Questa guida mostra come installare il pacchetto e avviare il server con la console.",
    "pt": "Este guia mostra como instalar o pacote e executar o servidor em uma máquina com Linux.",
    "nl": "Deze gids laat zien hoe u het pakket installeert en de server start met een opdracht.",
    "pl": "Ten przewodnik pokazuje, jak zainstalować pakiet i uruchomić serwer na komputerze.",
    "sv": "Guiden visar att det är lätt att installera paketet och starta servern på en dator.",
    "ru": "Это руководство показывает, как установить пакет и запустить сервер для работы.",
    "uk": "Цей посібник показує, як встановити пакет і запустити сервер для роботи та тестів.",
    "ko": "이 안내서는 패키지를 설치하고 서버를 실행하는 방법을 보여 줍니다.",
    "ja": "このガイドでは、パッケージをインストールしてサーバーを起動する方法を説明します。",
    "zh": "本指南介绍如何安装软件包并运行服务器。",
    "el": "Αυτός ο οδηγός δείχνει πώς να εγκαταστήσετε το πακέτο.",
    "he": "מדריך זה מראה כיצד להתקין את החבילה ולהפעיל את השרת.",
    "ar": "يوضح هذا الدليل كيفية تثبيت الحزمة وتشغيل الخادم.",
    "fa": "این راهنما نشان می‌دهد که چگونه بسته را نصب کنید و سرور را اجرا کنید، پس گام به گام.",
    "th": "คู่มือนี้แสดงวิธีติดตั้งแพ็คเกจและเรียกใช้เซิร์ฟเวอร์",
    "hi": "यह गाइड दिखाती है कि पैकेज कैसे स्थापित करें और सर्वर कैसे चलाएं।",
    "": "def main(argv): print(foo) import os sys.exit(0) x = y + z npm run build --watch",
}


@pytest.mark.parametrize("language", SAMPLES)
def test_a_text_shows_its_language(language: str) -> None:
    assert language_of(SAMPLES[language], "") == (language, language)


@pytest.mark.parametrize(
    ("text", "declared", "expected"),
    [
        ("", "ko-KR", "ko"),
        ("", " EN_us ", "en"),
        ("", "zh-Hant-TW", "zh"),
        (SAMPLES["de"], "en", "en"),  # what is declared is believed …
        (SAMPLES["ko"], "en", "ko"),  # … unless every letter says otherwise
        (SAMPLES["zh"], "ja", "ja"),
        (SAMPLES["hi"], "mr", "mr"),
        (SAMPLES["ja"], "ja", "ja"),
        ("apt-get 명령으로 패키지를 설치합니다 (Debian GNU/Linux)", "x-unknown-y", "ko"),
        ("An English page that names 서울 once and goes on in the language of the rest.", "", "en"),
        ("plain English", "", ""),
        ("1.2.3 4.5 AAA BBB 2024-01-02 XYZ", "und", ""),
        ("", "", ""),
        ("", "한국", ""),
        ("x" * SAMPLE_CHARS + "안녕하세요" * 1000, "", ""),  # only a sample is read
    ],
)
def test_language(text: str, declared: str, expected: str) -> None:
    assert language_of(text, declared)[0] == expected


@given(st.text(), st.text())
def test_the_answer_is_a_subtag_or_nothing(text: str, declared: str) -> None:
    for language in language_of(text, declared):
        is_subtag = language.isascii() and language.islower() and len(language) in (2, 3)
        assert language == "" or is_subtag


def test_what_a_page_says_does_not_hide_what_its_text_shows() -> None:
    assert language_of(SAMPLES["de"], "en") == ("en", "de")
    assert language_of(SAMPLES["en"], "en-GB") == ("en", "en")
    assert language_of(SAMPLES["ko"] + SAMPLES["en"], "en")[1] == "ko"


@pytest.mark.parametrize(("missing", "detected"), [(0, "en"), (1, "")])
def test_few_words_confirm_english(missing: int, detected: str) -> None:
    words = "the and of to in"[: -3 * missing or None]
    names = " ".join(f"n{number}" for number in range(70))
    assert len(words.split()) == CONFIRM_WORDS - missing
    assert language_of(f"{words} {names}", "en") == ("en", detected)
    assert language_of(f"{'x' * CONFIRM_CHARS} {words} {names}", "en") == ("en", "")
