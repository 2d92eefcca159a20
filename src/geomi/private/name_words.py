"""The words that tell names of people from other words: titles, families, syllables, brands."""

from __future__ import annotations

# After a title these are offices, places and brands: `Mr. President`, `Miss Universe`.
NOT_TITLED = frozenset(
    """
    President Speaker Chairman Chairwoman Chair Chairperson Minister Secretary Ambassador Mayor
    Justice Judge Director Chancellor Vice Prime Office Windows Word Excel Universe World
    America Right Wrong Perfect Robot Clean Coffee Pepper Who Martens Scholl's Meyer's Meyer’s
    Pac Potato Peanut Muscle Bean Beast Strange Evil No Doom Dre Mom Dad Madam Sir And Or The In
    Of Suite Apt Unit Floor USA International Teen Earth Street
    """.split()
)
# A name ends before them.
NOT_IN_NAME = frozenset(
    """
    It The And Of In On At Before After If When Ask You Your He She We They This That What A An
    I Is Are But For To With As By From Our My Please See Monday Tuesday Wednesday Thursday
    Friday Saturday Sunday January February March April June July August September October
    November December
    """.split()
)
# In the text of a link, or as the author of a page, they name no person.
NO_NAME = frozenset(
    """
    team inc ltd llc gmbh corp corporation company co authors author documentation docs doc
    staff editor editors editorial group foundation university institute college school news
    press media blog support software labs lab project community committee association council
    office department dept division centre center service services solutions systems
    technologies technology research network networks online digital studio studios agency board
    bureau contributors contributor maintainers maintainer developers developer engineering
    marketing sales customer contact email mail send write us me report bug feedback help desk
    admin administrator webmaster info information guest user anonymous the and of for our your
    web site page data security privacy legal billing human resources public relations world
    global international national american european open source free general manager assistant
    support reporter correspondent magazine journal times post daily weekly today review reviews
    guide store shop club society library museum church hospital clinic bank trust partners
    consulting farm valley garden gardens hotel restaurant cafe bar city town county village
    street house home hat linux enterprise cloud code studio visual api sdk
    """.split()
)
# Korean family names; of three syllables the first is one.
FAMILY_NAMES = frozenset(
    "김이박최정강조윤장임한오서신권황안송류유전홍고문손양배백허남심노하곽성차주우구민진나지엄채"
    "원천방공현함변염여추도소석선설마길연위표명기반왕금옥육맹제탁국은편용"
)
LONG_FAMILY_NAMES = frozenset(
    """
    남궁 황보 제갈 선우 독고 사공 서문
    """.split()
)
# The syllables of given names, first and last; others make a word of a family name.
FIRST_SYLLABLES = frozenset(
    "가강건경광교구국권규근금기길나남다단달대덕도동두라래려련로루류리린마만명무문미민배범별병보"
    "본봉빛상새서석선설성세소솔송수숙순슬승시신아안애양언여연영예옥온완용우욱운웅원유윤율은을이"
    "익인일자장재정제종주준중지진찬창채천철청초춘충치태택필하학한해헌혁현형혜호홍화환효훈휘희"
)
LAST_SYLLABLES = frozenset(
    "강건경관광교구국권규균근금기길나남늘달담덕도동두라란람래려련령로록룡루률리린림만명모무문미"
    "민배백범별병보복봉빈빛상새서석선설섭성세소솔수숙순술슬승식신실아안애양언여연열영예오옥온완"
    "용우욱운웅원월유윤율은을음이익인일임자재정제종주준중지진찬창채천철춘출치태택표필하학한해헌"
    "혁현형혜호홍화환훈휘흔희엽비걸겸결녕량묵봄솜샘참"
)
# No given name ends like this; departments, subjects and possessives do.
NOT_LAST = frozenset("부계과팀의처들께님씨를을는")
# Names such as `영자`; other words that end so are roles: `구매자`.
BEFORE_JA = frozenset("영순은명정미경숙옥춘금말복화연혜현인애")
# Words that begin like a name, before a role: `한국 대표`, `정치부 기자`.
TOPICS = frozenset(
    """
    오늘 이번 우리 전체 한국 이제 지금 현재 전문 주요 여러 서울 이런 최고 최초 현직 전직 신임
    유명 인기 방송 국회 정부 경제 사회 문화 정치 연예 지역 이공 공동 기획 전임 조교 차기 제작
    연구 주식 유한 남자 여자 여성 남성 선임 수석 지방 원로 중견 신인 천재 명예 고등 한양 연세
    고려 성균 서강 국민 전국 기술 인사 안전 구단 소속
    """.split()
)
COMMON_WORDS = frozenset(
    """
    변호사 전도사 정비사 한의사 노무사 조종사 기관사 장의사 선교사 조리사 안마사 유튜버 조합원
    임직원 공무원 연구원 안내원 구성원 이사장 조합장 지점장 주방장 소대장 지부장 위원장 이메일
    주민등 고객센 홍보실 기획실 원작자 서비스 이벤트 공급사 제조사 판매사 배송지 주소지 전화번
    구직자 도우미 지킴이 어린이 선배님 여러분 남편분 고객사 담임선 최우수 우수상 성공회 한국인
    유학생 고등학 중학생 대학생 강아지 고양이 이모티 하나뿐 금융권 공인중 인턴십 천주교 기독교
    주인공 연예인 정치인 경제인 문화인 기업인 여행사 방송사 공연장 전시장 강원도 경기도 충청도
    전라도 경상도 제주도
    """.split()
)
