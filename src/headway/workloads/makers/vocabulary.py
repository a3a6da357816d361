"""The words of made texts: common English ones first, then invented ones that can be spoken."""

from __future__ import annotations

from itertools import count, islice, product

COMMON_TEXT = """
the to and a of in is you for it i on that this my with be me so at we just have your are not was
but all out up do no new what like get if about more one now when from can they will how today go
by he an time good or know love our who as see day there us want need people great make thanks her
think his here back going she some off their has then really too right life still been them why
best work way would last much never first always over take well only than him down look because had
very again were am every happy even next got could should world please come any better into other
let man feel after thing most give show big home year week night say ever things before two free
thank find live many call help hope these keep ready long news follow way watch real game play team
girl also where may start end old house city school music video check win stop stay run talk think
friend family morning tonight tomorrow read write learn open close city water food coffee sleep rain
sun light road train plane phone photo story book word name money job office market price report
health care vote state country president party law court police support change plan idea question
answer problem reason fact side hand head heart face eye body mind place part point case line group
number company business system program power data model engine cloud stream batch event goal late
early fast slow small large high low hard easy true false full empty clear dark bright cold hot warm
red blue green black white young short strong sure close quick kind nice funny sad sorry proud lucky
beautiful amazing awesome perfect crazy wrong weird serious special simple public local social
national human american english million hundred second minute hour month season summer winter spring
monday friday saturday sunday birthday weekend holiday christmas party song album band movie film
player coach score match season ball goal field club fan fans crowd ticket seat door window room bed
table street park beach river mountain tree flower dog cat bird fish horse baby boy woman mother
father sister brother daughter son wife husband doctor teacher student class test college degree
science history art design fashion style dress shirt shoes hair skin smile laugh cry dance sing walk
drive ride fly fall break build buy sell pay spend save send bring hold carry throw catch hit kick
lose leave move turn follow lead meet join share speak listen hear tell ask wonder believe remember
forget wait hate enjoy miss care worry try use mean seem become happen put set cut eat drink cook
"""
COMMON = tuple(dict.fromkeys(COMMON_TEXT.split()))
ONSETS = (*"bdfgklmnprstvz", "ch", "sh", "th", "st", "tr", "br")
SYLLABLES = [a + b for a, b in product(ONSETS, "aeiou")]


def vocabulary(size: int) -> list[str]:
    """The first `size` words, all different, most common first; a longer list begins like
    a shorter one.

    >>> vocabulary(3), len(set(vocabulary(20_000)))
    (['the', 'to', 'and'], 20000)
    """
    if size < 1:
        raise ValueError(f"a vocabulary needs at least one word; got {size!r}")
    words = dict.fromkeys(COMMON)
    fresh = (word for word in map(invent, count()) if word not in words)
    return [*words, *islice(fresh, max(0, size - len(words)))][:size]


def invent(number: int) -> str:
    """A word of two or more syllables, another one for each number."""
    word = ""
    number += len(SYLLABLES)
    while number:
        number, place = divmod(number, len(SYLLABLES))
        word += SYLLABLES[place]
    return word
