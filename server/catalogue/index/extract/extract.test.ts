import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { buildSkillIndexSync } from '../skill-index.ts'

const skills = [
  { number: 1, name: 'Welding', aliases: ['welder', 'वेल्डिंग'] },
  { number: 2, name: 'Welding machine maintenance', aliases: [] },
  { number: 3, name: 'Machine operation', aliases: ['operating machines'] },
  { number: 4, name: 'E-commerce', aliases: [] },
  { number: 5, name: 'Colour mixing', aliases: [] },
  { number: 6, name: 'Plumbing', aliases: ['plumber'] },
  { number: 7, name: 'C++', aliases: [] },
  { number: 8, name: 'Go', aliases: ['Golang'] },
  { number: 9, name: 'R', aliases: ['R programming'] },
  { number: 10, name: 'Data entry', aliases: ['typing'] },
  { number: 11, name: 'House wiring', aliases: ['bijli ka kaam', 'बिजली का काम'] },
  { number: 12, name: 'Crème brûlée', aliases: [] },
  { number: 13, name: 'AC repair', aliases: [] },
  { number: 14, name: 'LESS', aliases: [] },
  { number: 15, name: 'Spreadsheet', aliases: [] },
  { number: 16, name: 'Research and development', aliases: [] },
  { number: 17, name: 'Arc welding', aliases: [] },
  { number: 18, name: 'Cybersecurity', aliases: ['cybersecurity audit'] },
]
const index = buildSkillIndexSync(skills)

const mentionsIn = (text: string) =>
  index.extract(text, 100).flatMap((skill) => skill.mentions.map((mention) => `${skill.number}:${mention.text}`))
const scoreIn = (text: string, skillNumber: number) =>
  index.extract(text, 100).find((skill) => skill.number === skillNumber)?.score ?? 0

test('names and aliases are found with their offsets', () => {
  const text = 'Wanted: a Welder for welding and data entry.'
  const extractedSkills = index.extract(text)
  const welding = extractedSkills.find(({ number }) => number === 1)!
  assert.deepEqual(welding.mentions, [
    { start: 10, end: 16, text: 'Welder' },
    { start: 21, end: 28, text: 'welding' },
  ])
  for (const skill of extractedSkills)
    for (const { start, end, text: mentionText } of skill.mentions) assert.equal(text.slice(start, end), mentionText)
})

test('offsets count UTF-16 units, also after emoji, Devanagari and combining marks', () => {
  const text = '👷🏽‍♀️🔥 वेल्डिंग 😀 cre\u0300me bru\u0302le\u0301e, बिजली का काम'
  const extractedSkills = index.extract(text)
  for (const skill of extractedSkills)
    for (const { start, end, text: mentionText } of skill.mentions) assert.equal(text.slice(start, end), mentionText)
  assert.deepEqual(mentionsIn(text).sort(), ['11:बिजली का काम', '12:cre\u0300me bru\u0302le\u0301e', '1:वेल्डिंग'])
})

test('if mentions overlap, the longest one is kept', () => {
  assert.deepEqual(mentionsIn('welding machine maintenance'), ['2:welding machine maintenance'])
  assert.deepEqual(mentionsIn('welding machine operation').sort(), ['1:welding', '3:machine operation'])
  assert.deepEqual(mentionsIn('arc welding machine maintenance'), ['2:welding machine maintenance'])
})

test('plural, verb, hyphen and spelling variants are found', () => {
  for (const [text, expectedMention] of [
    ['three welders', '1:welders'],
    ['spreadsheets', '15:spreadsheets'],
    ['ecommerce', '4:ecommerce'],
    ['e commerce', '4:e commerce'],
    ['e-commerce', '4:e-commerce'],
    ['data-entry', '10:data-entry'],
    ['cyber-security', '18:cyber-security'],
    ['cyber-security audits', '18:cyber-security audits'],
    ['color mixing', '5:color mixing'],
    ['colours mixing', '5:colours mixing'],
    ['AC repairing', '13:AC repairing'],
    ['operates machine: operating machine', '3:operating machine'],
    ['research & development', '16:research & development'],
    ['bijlee ka kaam', '11:bijlee ka kaam'],
    ['C++ developer', '7:C++'],
  ] as const)
    assert.deepEqual(mentionsIn(text), [expectedMention], text)
})

test('a label of one word is not found by other words with the same stem', () => {
  assert.deepEqual(mentionsIn('we weld and plumb'), [])
  const solderingIndex = buildSkillIndexSync([
    { number: 1, name: 'Soldering', aliases: [] },
    { number: 2, name: 'Brazing', aliases: ['solder'] },
  ])
  assert.deepEqual(
    solderingIndex.extract('soldering, solders').map(({ number, mentions }) => [number, mentions[0]!.text]),
    [
      [1, 'soldering'],
      [2, 'solders'],
    ],
  )
})

test('Hindi words are found in other spellings', () => {
  const hindiIndex = buildSkillIndexSync([{ number: 1, name: 'Tailoring', aliases: ['silai', 'सिलाई', 'हिंदी सिलाई'] }])
  for (const text of ['silaai', 'सिलायी', 'हिन्दी सिलाई'])
    assert.deepEqual(
      hindiIndex.extract(text).map(({ mentions }) => mentions[0]!.text),
      [text],
    )
})

const siteIndex = buildSkillIndexSync([
  { number: 1, name: 'Wheel alignment', aliases: [] },
  { number: 2, name: 'Wheel balancing', aliases: [] },
  { number: 3, name: 'Truck loading', aliases: [] },
  { number: 4, name: 'Pump installation', aliases: ['pump fitting'] },
  { number: 5, name: 'Accident investigation', aliases: [] },
  { number: 6, name: 'Arc welding', aliases: ['welding ka kaam'] },
  { number: 7, name: 'House wiring', aliases: ['bijli ka kaam'] },
  { number: 8, name: 'Recruitment', aliases: ['HR'] },
  { number: 9, name: 'Cash in transit', aliases: ['CIT'] },
  { number: 10, name: 'Mobile crane operation', aliases: ['crane'] },
])
const siteMentions = (text: string) =>
  siteIndex
    .extract(text)
    .flatMap((skill) => skill.mentions.map((mention) => `${skill.number}:${mention.text}`))
    .sort()

test('a name is found with its last word first and with linking words', () => {
  for (const [text, expectedMention] of [
    ['loading of trucks', '3:loading of trucks'],
    ['you load the trucks', '3:load the trucks'],
    ['installation of pumps', '4:installation of pumps'],
    ['pump ki fitting', '4:pump ki fitting'],
  ] as const)
    assert.deepEqual(siteMentions(text), [expectedMention], text)
  const scoreOf = (text: string) => siteIndex.extract(text)[0]!.score
  assert.ok(scoreOf('loading of trucks') < scoreOf('truck loading'), 'another wording has a lower score')
  for (const text of ['truck, loading', 'installation pumps', 'load of the the the trucks'])
    assert.deepEqual(siteMentions(text), [], text)
})

test('two names joined by "and" can share a word', () => {
  assert.deepEqual(siteMentions('wheel alignment and balancing on a machine'), ['1:wheel alignment', '2:balancing'])
  assert.deepEqual(siteMentions('wheel alignment and balancing sheets'), ['1:wheel alignment'])
  assert.deepEqual(siteMentions('accident and near-miss investigation'), ['5:accident'])
  assert.deepEqual(siteMentions('accident. And near miss investigation'), [])
})

test('the names of a list can share their first or last word', () => {
  const weldingIndex = buildSkillIndexSync([
    { number: 1, name: 'Arc welding', aliases: [] },
    { number: 2, name: 'MIG welding', aliases: [] },
    { number: 3, name: 'TIG welding', aliases: [] },
    { number: 4, name: 'CPVC pipe fitting', aliases: [] },
    { number: 5, name: 'GI pipe fitting', aliases: [] },
    { number: 6, name: 'AC installation', aliases: [] },
    { number: 7, name: 'AC servicing', aliases: [] },
    { number: 8, name: 'AC gas charging', aliases: [] },
    { number: 9, name: 'Hindi', aliases: [] },
    { number: 10, name: 'Hindi typing', aliases: [] },
    { number: 11, name: 'English typing', aliases: [] },
  ])
  const extractedNumbers = (text: string) =>
    weldingIndex
      .extract(text)
      .map(({ number }) => number)
      .sort((a, b) => a - b)
  assert.deepEqual(extractedNumbers('ARC/MIG/TIG welding'), [1, 2, 3])
  assert.deepEqual(extractedNumbers('arc, MIG and TIG welding'), [1, 2, 3])
  assert.deepEqual(extractedNumbers('CPVC, GI pipe fitting'), [4, 5])
  assert.deepEqual(extractedNumbers('AC installation, servicing, accounts'), [6, 7])
  assert.deepEqual(extractedNumbers('Hindi/English typing'), [10, 11])
  assert.deepEqual(extractedNumbers('good Hindi, 40 wpm English typing'), [9, 11])
  assert.deepEqual(extractedNumbers('arc. TIG welding'), [3])
  assert.deepEqual(extractedNumbers('arc, heavy plate welding'), [1])
  assert.deepEqual(extractedNumbers('arc, quite heavy plate welding'), [])
  assert.deepEqual(extractedNumbers('arc and gas work, TIG welding'), [3])
})

test('a shared head is not expanded across linking words', () => {
  const smallIndex = buildSkillIndexSync([
    { number: 1, name: 'Truck', aliases: ['loading'] },
    { number: 2, name: 'Cyber loading', aliases: ['cyber'] },
  ])
  const foundTexts = smallIndex
    .extract('cyber of, truck loading')
    .flatMap(({ mentions }) => mentions.map(({ text }) => text))
  assert.deepEqual(foundTexts.sort(), ['cyber', 'loading', 'truck'])
})

test('the word for a person who does an activity is a mention of the activity', () => {
  const tradeIndex = buildSkillIndexSync([
    { number: 1, name: 'Forklift operation', aliases: [] },
    { number: 2, name: 'Truck driving', aliases: [] },
    { number: 3, name: 'Refrigerator repair', aliases: [] },
    { number: 4, name: 'Dispatch', aliases: ['truck driver'] },
  ])
  assert.equal(tradeIndex.extract('2 forklift operators wanted')[0]!.number, 1)
  assert.equal(tradeIndex.extract('refrigerator mechanic')[0]!.number, 3)
  // A variant that is a label itself remains that label.
  assert.deepEqual(
    tradeIndex.extract('truck driver').map(({ number }) => number),
    [4],
  )
})

test('names of activities are found in Hindi', () => {
  const tradeIndex = buildSkillIndexSync([
    { number: 1, name: 'Forklift operation', aliases: [] },
    { number: 2, name: 'Water tank cleaning', aliases: [] },
    { number: 3, name: 'पंप installation', aliases: [] },
  ])
  for (const [text, number] of [
    ['forklift chalana', 1],
    ['forklift chalane wala', 1],
    ['water tank ki safai', 2],
    ['पंप लगाने', 3],
  ] as const)
    assert.equal(tradeIndex.extract(text)[0]?.number, number, text)
})

test('a name is found with its words joined or split, by either part of a name with "and", and by its distinctive word', () => {
  const nameIndex = buildSkillIndexSync([
    { number: 1, name: 'Bricklaying', aliases: ['brick work', 'राजमिस्त्री'] },
    { number: 2, name: 'Bookkeeping', aliases: [] },
    { number: 3, name: 'Tap and mixer installation', aliases: [] },
    { number: 4, name: 'Die cutting and creasing', aliases: [] },
    { number: 5, name: 'Overlock sewing', aliases: [] },
    { number: 10, name: 'Smock sewing', aliases: [] },
    { number: 11, name: 'Frog sewing', aliases: [] },
    { number: 6, name: 'Laptop repair', aliases: [] },
    { number: 8, name: 'Tower crane operation', aliases: [] },
    { number: 9, name: 'Types of moulding', aliases: [] },
    { number: 7, name: 'Tile laying', aliases: ['टाइल लगाना', 'book', 'keeping', 'मिस्त्री'] },
  ])
  for (const [text, number] of [
    ['brickwork', 1],
    ['राज मिस्त्री', 1],
    ['book keeping', 2],
    ['tap installation', 3],
    ['mixer installation', 3],
    ['die cutting', 4],
    ['overlock', 5],
    ['smock', 10],
    ['on the tower crane', 8],
    ['टाइल लगाने का काम', 7],
    ['टाइल लगानी है', 7],
  ] as const)
    assert.equal(nameIndex.extract(text)[0]?.number, number, text)
  assert.deepEqual(nameIndex.extract('bring your laptop, all types of people, a frog'), [])
})

test('a short form is a mention of its long form', () => {
  const softSkillIndex = buildSkillIndexSync([
    { number: 1, name: 'work in teams', aliases: [] },
    { number: 2, name: 'show determination', aliases: [] },
    { number: 3, name: 'project management', aliases: [] },
  ])
  assert.equal(softSkillIndex.extract('You are a team player')[0]!.number, 1)
  assert.equal(softSkillIndex.extract('hard-working')[0]!.number, 2)
  // Self-descriptions of employers, and short forms that are too short.
  assert.deepEqual(softSkillIndex.extract('an ambitious company, open till 6 pm'), [])
  assert.deepEqual(index.extract('You are a team player'), [])
})

test('common misspellings and both English spellings are found', () => {
  const spellingIndex = buildSkillIndexSync([
    { number: 1, name: 'Home tuition', aliases: [] },
    { number: 2, name: 'House wiring', aliases: ['electrician'] },
    { number: 3, name: 'Aluminium moulding', aliases: ['aluminum'] },
  ])
  assert.equal(spellingIndex.extract('home tution')[0]!.number, 1)
  assert.equal(spellingIndex.extract('Electrition')[0]!.number, 2)
  assert.equal(spellingIndex.extract('aluminum molding')[0]!.mentions[0]!.text, 'aluminum molding')
})

test('an abbreviation is not matched without its final s, nor an everyday word in another form', () => {
  const smallIndex = buildSkillIndexSync([
    { number: 1, name: 'European Train Control System', aliases: ['ETCS'] },
    { number: 2, name: 'Patents', aliases: ['rights'] },
    { number: 3, name: 'Vehicle inspection', aliases: ['PDI'] },
  ])
  assert.deepEqual(smallIndex.extract('Python etc., the right place, ADIS / PDIS'), [])
  assert.equal(smallIndex.extract('three PDIs')[0]!.number, 3)
})

test('a label with "ka kaam" (work) is found without these words if it names an activity, not if it names an object', () => {
  assert.deepEqual(siteMentions('welding, cutting'), ['6:welding'])
  assert.deepEqual(siteMentions('bijli, pani free'), [])
})

test('common phrases of advertisements have a low score', () => {
  assert.ok(siteIndex.extract('call HR')[0]!.score < 0.2)
  assert.ok(siteIndex.extract('Accident investigation')[0]!.score > 0.5)
})

test('parts of compounds and Hindi auxiliaries are not mentions', () => {
  assert.deepEqual(siteMentions('RS-CIT certificate'), [])
  assert.deepEqual(siteMentions('CIT'), ['9:CIT'])
  assert.deepEqual(siteMentions('काम करने'), [])
})

test('words of two sentences or of two list items do not form one mention', () => {
  for (const text of ['data. Entry', 'Data\nEntry', 'data, entry', 'data - entry'])
    assert.deepEqual(mentionsIn(text), [], text)
})

test('an everyday word is a mention only if it has the same capitals as the skill name', () => {
  assert.deepEqual(mentionsIn('you go there, r we less'), [])
  assert.deepEqual(mentionsIn('we use Go, R and LESS').sort(), ['14:LESS', '8:Go', '9:R'])
  assert.deepEqual(mentionsIn('Go to the site. Go on.'), [])
  assert.deepEqual(mentionsIn('Skills: Go and more; Python, Go, Rust\nGo\nRust'), ['8:Go', '8:Go', '8:Go'])
  assert.deepEqual(mentionsIn('golang and r programming').sort(), ['8:golang', '9:r programming'])
})

test('a negated skill is found with a low score', () => {
  const requiredScore = scoreIn('experience in welding needed', 1)
  for (const text of [
    'no experience in welding needed',
    'welding is not required',
    'You need not know welding',
    "you don't need welding",
    'without welding',
    'welding nahi chahiye',
    'welding nahi karna hai',
    'welding is not in scope',
    'welding (arc) is not what we need',
    'welding is outsourced',
    'welding is handled by our vendor',
    'welding is looked after by our vendor',
    'everything except welding',
    'welding ka kaam alag thekedar karega',
    'welding unit is separate',
    'वेल्डिंग ज़रूरी नहीं',
    'welding knowledge is a plus but not necessary',
    'welding walon ke liye hamare paas jagah nahi',
    'welding people please excuse',
    'welding goes outside',
    'welding is with another gang',
    'welding is by the vendor',
    'welding bahar se hoti hai',
    'a separate person for welding',
    'no cooking, welding or ironing',
    'no cooking, ironing or welding',
    'welding by contractor',
    'welding experience (not required)',
    'no alpha beta gamma delta omega welding',
    'welding but not very necessary',
    'Skills not required:- welding',
    'welding alpha beta gamma delta not strictly required',
  ]) {
    assert.ok(scoreIn(text, 1) > 0, text)
    assert.ok(scoreIn(text, 1) < requiredScore / 2, text)
  }
})

test('a negation of something else does not change the score of a skill', () => {
  const requiredScore = scoreIn('experience in welding needed', 1)
  for (const text of [
    'No smoking. Experience in welding needed',
    'not only welding',
    'including but not limited to welding',
    'no less than two years of welding',
    'welding without gas',
    'welding by people who do not smoke',
    'welding aur uske baad alag team ke saath',
    'no plumbing, but welding',
    'no plumbing but welding',
    'No charges, welding from day one',
    'helper nahi welding chahiye',
    'welding but no smoking',
    'welding (no gas cutting)',
    'welding (not forging) all day',
    'wanted for our new site for welding',
    'no alpha beta gamma delta omega sigma welding',
    'welding but not alpha beta necessary',
    'welding is handled with care',
    'overtime nahi: welding',
    'welding alpha beta gamma delta not',
  ])
    assert.equal(scoreIn(text, 1), requiredScore, text)
})

test('the words of an earlier text do not change the score of a skill', () => {
  const text = 'welding (not'
  const scoreBefore = scoreIn(text, 1)
  scoreIn('welding not required', 1)
  assert.equal(scoreIn(text, 1), scoreBefore)
})

test('the score of a word that several skills contain decreases with the number of mentions in the text', () => {
  const shopIndex = buildSkillIndexSync([
    { number: 1, name: 'POS software', aliases: ['billing'] },
    { number: 2, name: 'Telecom billing', aliases: [] },
    ...Array.from({ length: 9 }, (_, i) => ({ number: 10 + i, name: `Kiln ${'abcdefghi'[i]}x firing`, aliases: [] })),
  ])
  const billingScore = (text: string) => shopIndex.extract(text).find(({ number }) => number === 1)!.score
  const manyMentions = Array.from({ length: 9 }, (_, i) => `kiln ${'abcdefghi'[i]}x firing`).join('. ')
  assert.ok(billingScore('billing') > 0.5)
  assert.ok(billingScore(`billing. ${manyMentions}`) < 0.4)
})

test('skills that describe the employer or a colleague have a low score', () => {
  const requiredScore = scoreIn('welding', 1)
  assert.ok(scoreIn('a welding company', 1) < requiredScore / 2)
  assert.ok(scoreIn('report to the welder', 1) < scoreIn('welder', 1) / 2)
  assert.equal(scoreIn('work with welder', 1), scoreIn('welder', 1))
})

test('alternative languages have a low score', () => {
  const languageIndex = buildSkillIndexSync([
    { number: 1, name: 'Hindi', aliases: ['हिंदी'] },
    { number: 2, name: 'Tamil', aliases: [] },
  ])
  const scores = (text: string) => languageIndex.extract(text).map((skill) => skill.score)
  for (const text of ['Tamil or Hindi', 'Tamil/Hindi', 'Tamil ya Hindi'])
    assert.ok(Math.max(...scores(text)) < 0.2, text)
  for (const text of ['Tamil and Hindi', 'Tamil + Hindi', 'Tamil, Hindi'])
    assert.ok(Math.min(...scores(text)) > 0.5, text)
})

test('words about the application are not skills', () => {
  const officeIndex = buildSkillIndexSync([{ number: 1, name: 'Resume writing', aliases: ['CV', 'biodata'] }])
  assert.deepEqual(officeIndex.extract('Send your CV or biodata'), [])
  assert.equal(officeIndex.extract('resume writing')[0]!.number, 1)
})

test('a negated mention does not lower the score of a skill with another mention', () => {
  assert.ok(scoreIn('no welding on Sundays. Welding needed', 1) >= scoreIn('welding', 1))
})

test('skills are returned in descending order of their score, up to the limit', () => {
  const text = 'no plumbing needed; welding, welding and typing'
  const extractedSkills = index.extract(text)
  assert.deepEqual(
    extractedSkills.map(({ number }) => number),
    [1, 10, 6],
  )
  for (let i = 1; i < extractedSkills.length; i++) assert.ok(extractedSkills[i]!.score <= extractedSkills[i - 1]!.score)
  assert.equal(index.extract(text, 2).length, 2)
  assert.ok(scoreIn('welding. welding', 1) > scoreIn('welding', 1))
})

test('mentions never overlap, and their text equals the original text at their offsets', () => {
  const words = skills
    .flatMap(({ name, aliases }) => [name, ...aliases])
    .concat(['and', '👷', '\n', ', ', 'का', 'no', '\ud800', 'e\u0301', 'ﬁ'])
  fc.assert(
    fc.property(
      fc.array(fc.oneof(fc.constantFrom(...words), fc.string({ unit: 'grapheme', maxLength: 6 })), { maxLength: 30 }),
      (parts) => {
        const text = parts.join(' ')
        const allMentions = index.extract(text, 100).flatMap((skill) => skill.mentions)
        for (const { start, end, text: mentionText } of allMentions) assert.equal(text.slice(start, end), mentionText)
        allMentions.sort((a, b) => a.start - b.start)
        for (let i = 1; i < allMentions.length; i++) assert.ok(allMentions[i]!.start >= allMentions[i - 1]!.end)
      },
    ),
    { numRuns: 500 },
  )
})

test('texts of the maximum length are processed', () => {
  for (const unit of ['welding machine ', 'e-', '&', "'", '. ', 'welding-', 'ﬃ', '्क', '\ud83d', 'no '])
    index.extract(unit.repeat(50_000 / unit.length), 100)
  assert.equal(index.extract('welding '.repeat(6250), 1)[0]!.mentions.length, 6250)
})

test('a label of up to ten words is found as a label, a longer one only as a clause', () => {
  const name = 'Inspecting boilers valves pumps motors turbines gaskets pipes tanks vessels'
  const longName = `${name} chimneys`
  const longNameIndex = buildSkillIndexSync([
    { number: 1, name, aliases: [] },
    { number: 2, name: longName.replace('Inspecting', 'Assembling'), aliases: [] },
  ])
  assert.deepEqual(
    longNameIndex.extract(name).map(({ number }) => number),
    [1],
  )
  const assembling = longName.replace('Inspecting', 'Assembling')
  assert.deepEqual(longNameIndex.labelsIn(assembling), [])
  assert.deepEqual(
    longNameIndex.extract(assembling).map(({ number, mentions }) => `${number}: ${mentions[0]!.text}`),
    [`2: ${assembling}`],
  )
})

test('a text has at most 1000 lookups of Hindi words in other spellings', () => {
  const hindiIndex = buildSkillIndexSync([{ number: 1, name: 'Tailoring', aliases: ['सिलाई'] }])
  const unknownWords = (count: number) => 'टट '.repeat(count)
  assert.equal(hindiIndex.extract(`${unknownWords(999)}सिलायी`).length, 1)
  assert.equal(hindiIndex.extract(`${unknownWords(1000)}सिलायी`).length, 0)
  assert.equal(hindiIndex.extract(`${unknownWords(1000)}सिलाई`).length, 1)
})

test('no skills are extracted from a text without skills', () => {
  for (const text of ['', ' ', '…', 'the of and', '😀']) assert.deepEqual(index.extract(text), [])
})

test('a Hindi word is not a mention of an abbreviation that sounds like it', () => {
  const smallIndex = buildSkillIndexSync([{ number: 1, name: 'Amazon Web Services', aliases: ['AWS', 'CIT'] }])
  assert.deepEqual(smallIndex.extract('आवास सहित वेतन'), [])
  assert.equal(smallIndex.extract('AWS')[0]!.number, 1)
})

test('of several words that sound like a Hindi word, only the first in the alphabet is mentioned', () => {
  const namesIn = (text: string, names: string[]) =>
    buildSkillIndexSync(names.map((name, index) => ({ number: index + 1, name, aliases: [] })))
      .extract(text)
      .map(({ name }) => name)
  for (const names of [
    ['Planing', 'Planning'],
    ['Planning', 'Planing'],
  ])
    assert.deepEqual(namesIn('प्लानिंग का काम', names), ['Planing'])
  assert.deepEqual(namesIn('क्लिक का काम', ['Qlik', 'Click counting']), [])
})

test('a name ends at a punctuation mark, unless the mark is part of the name', () => {
  const smallIndex = buildSkillIndexSync([
    { number: 1, name: 'Jam, jelly and squash making', aliases: [] },
    { number: 2, name: 'Golang', aliases: ['Go (programming language)'] },
    { number: 3, name: 'C++', aliases: ['C++17'] },
    { number: 4, name: 'Concrete mixing', aliases: ['1:2:4 mix'] },
    { number: 5, name: 'Data entry work', aliases: [] },
  ])
  const extractMentions = (text: string) =>
    smallIndex.extract(text).flatMap(({ number, mentions: [firstMention] }) => `${number}:${firstMention!.text}`)
  assert.deepEqual(extractMentions('Does jam, jelly and squash making at home'), ['1:jam, jelly and squash making'])
  assert.deepEqual(extractMentions('Jam jelly and squash making'), ['1:Jam jelly and squash making'])
  assert.deepEqual(extractMentions('Go (programming language)'), ['2:Go (programming language)'])
  assert.deepEqual(extractMentions('C++17, 1:2:4 mix'), ['3:C++17', '4:1:2:4 mix'])
  assert.deepEqual(extractMentions('jam\njelly and squash making'), ['1:squash making'])
  assert.deepEqual(extractMentions('data, entry work'), [])
})

test('if names have the same stems, an isolated mention refers to the name with the same words', () => {
  const smallIndex = buildSkillIndexSync([
    { number: 1, name: 'Heart check', aliases: ['stress test'] },
    { number: 2, name: 'Load trial', aliases: ['stress testing'] },
  ])
  const extractedNumbers = (text: string) => smallIndex.extract(text).map(({ number }) => number)
  assert.deepEqual(extractedNumbers('stress test'), [1])
  assert.deepEqual(extractedNumbers('stress testing'), [2])
  assert.deepEqual(extractedNumbers('Duties: stress testing, cleaning'), [2])
  assert.deepEqual(extractedNumbers('does stress testing daily'), [1])
})

test('a text that consists of a skill name is a mention of it', () => {
  const smallIndex = buildSkillIndexSync([
    { number: 1, name: 'Table service', aliases: ['server'] },
    { number: 2, name: 'Payroll processing', aliases: ['payslip'] },
  ])
  assert.equal(smallIndex.extract('server')[0]?.number, 1)
  assert.equal(smallIndex.extract('payslip')[0]?.number, 2)
  assert.deepEqual(smallIndex.extract('a server and a payslip'), [])
})

test('among overlapping mentions with equally many words, a label is preferred to a variant in another word order', () => {
  const smallIndex = buildSkillIndexSync([
    { number: 1, name: 'MIS reporting', aliases: [] },
    { number: 2, name: 'Daily sheets', aliases: ['daily reporting'] },
  ])
  assert.deepEqual(
    smallIndex.extract('MIS reporting daily').map(({ number }) => number),
    [1],
  )
})

test('a name is found with split words, with digits, with dots, and with a plural that is also another word', () => {
  const smallIndex = buildSkillIndexSync([
    { number: 1, name: 'Forklift operation', aliases: ['fork lift'] },
    { number: 2, name: 'Lift operation', aliases: ['lift operator'] },
    { number: 3, name: 'Two-wheeler repair', aliases: ['two wheeler mechanic'] },
    { number: 4, name: 'Fluid mechanics', aliases: [] },
    { number: 5, name: 'AC repair', aliases: [] },
  ])
  for (const [text, number] of [
    ['Fork lift operators', 1],
    ['lift operators', 2],
    ['2-wheeler mechanic', 3],
    ['two wheeler mechanics', 3],
    ['A.C. repair', 5],
  ] as const)
    assert.deepEqual(
      smallIndex.extract(text).map((skill) => skill.number),
      [number],
      text,
    )
})

test('a list item that is itself a label or a job role shares no word with the item before', () => {
  const smallIndex = buildSkillIndexSync([
    { number: 1, name: 'Hair cutting', aliases: ['hair cut'] },
    { number: 2, name: 'Henna hair application', aliases: ['hair mehndi'] },
    { number: 3, name: 'Mehndi application', aliases: ['mehndi'] },
    { number: 4, name: 'Straight knife cutting', aliases: ['cutting master'] },
    { number: 5, name: 'Bundling', aliases: ['cutting helper'] },
  ])
  const extractedNumbers = (text: string) => smallIndex.extract(text).map(({ number }) => number)
  assert.deepEqual(extractedNumbers('hair cut, mehndi').sort(), [1, 3])
  assert.deepEqual(extractedNumbers('cutting master, helper'), [4])
})

test('an applicant who can join immediately is not a joiner (carpenter)', () => {
  const smallIndex = buildSkillIndexSync([{ number: 1, name: 'Wood joinery', aliases: ['joiner'] }])
  assert.deepEqual(smallIndex.extract('Immediate joiner preferred. Looking for immediate joiners.'), [])
  assert.equal(smallIndex.extract('We need a joiner for doors').length, 1)
})

test('a negated heading negates its list, and a negating note negates the item before it', () => {
  for (const text of [
    'Skills not required: plumbing, data entry',
    'Not needed - plumbing and data entry',
    'plumbing: not necessary',
    'Plumbing (not required)',
    'plumbing - nahi chahiye',
  ])
    assert.ok(scoreIn(text, 6) > 0 && scoreIn(text, 6) < 0.2, text)
  assert.ok(scoreIn('Skills not required: plumbing, data entry', 10) < 0.2)
  for (const text of [
    'Skills not required: data entry. Required: plumbing',
    'Experience not required: plumbing, data entry',
    'Education: not required. Plumbing',
    'Experience not required\nPlumbing',
    'Plumbing: no experience necessary',
    'Required: plumbing, data entry',
  ])
    assert.ok(scoreIn(text, 6) > 0.5, text)
})

const scoredSkills = [
  { number: 1, name: 'Welding', aliases: ['welder', 'वेल्डिंग'], isPreferred: true },
  { number: 2, name: 'Arc welding', aliases: [] },
  { number: 3, name: 'Machine operation', aliases: ['operating machines'] },
  { number: 4, name: 'Data entry', aliases: ['typing'] },
  { number: 5, name: 'House wiring', aliases: ['bijli ka kaam', 'electrician'] },
  { number: 6, name: 'Plumbing', aliases: ['plumber'] },
  { number: 7, name: 'Go', aliases: ['Golang'] },
  { number: 8, name: 'AC repair', aliases: [] },
  { number: 9, name: 'Research and development', aliases: [] },
  { number: 10, name: 'Sales management', aliases: ['sales manager'] },
  { number: 11, name: 'Hindi', aliases: [] },
  { number: 12, name: 'Tamil', aliases: [] },
  { number: 13, name: 'Recruitment', aliases: [] },
  { number: 14, name: 'Cooking', aliases: ['cook'] },
  { number: 15, name: 'Carpentry', aliases: ['joiner'] },
  { number: 16, name: 'Closed circuit television', aliases: [] },
  { number: 17, name: 'R', aliases: ['R programming'] },
  { number: 18, name: 'Customer service', aliases: [] },
  { number: 19, name: 'Customer support', aliases: [] },
  { number: 20, name: 'Forklift driving', aliases: [] },
]

/** Texts with the skills that they mention: the skill, the score and the mentions. */
const SCORED_TEXTS: readonly (readonly [text: string, found: string])[] = [
  // A name, an alias, repeated mentions.
  ['Welding', '1 0.86 Welding'],
  ['We need a welder.', '1 0.66 welder'],
  ['Welding and more welding, and a welder.', '1 0.9104 Welding|welding|welder'],
  ['Data entry, typing.', '4 0.904 Data entry|typing'],
  // A name in other words.
  ['Operating of machines', '3 0.76 Operating of machines'],
  ['wired houses', ''],
  ['research & development', '9 0.88 research & development'],
  ['Forklift driver', '20 0.792 Forklift driver'],
  ['sales and customer support', '19 0.88 customer support'],
  ['customer service and support', '18 0.88 customer service, 19 0.88 support'],
  // Names and everyday words.
  ['Go and R', '17 0.86 R'],
  ['go to the site', ''],
  ['Golang', '7 0.66 Golang'],
  ['R programming', '17 0.76 R programming'],
  // Short forms and misspellings.
  ['CCTV operator', '16 0.6 CCTV'],
  ['CCTV', '16 0.6 CCTV'],
  ['electrition', '5 0.66 electrition'],
  ['bijlee ka kaam', ''],
  ['AC mechanic', '8 0.792 AC mechanic'],
  // Negation.
  ['no welding', '1 0.086 welding'],
  ['Welding is not required.', '1 0.086 Welding'],
  ['welding nahi chahiye', '1 0.086 welding'],
  ['not only welding but plumbing', '1 0.86 welding, 6 0.86 plumbing'],
  ['no plumbing, cooking or welding', '6 0.086 plumbing, 14 0.086 cooking, 1 0.086 welding'],
  ['Welding is done by our vendor.', '1 0.086 Welding'],
  ['Welding people please excuse.', '1 0.086 Welding'],
  ['Experience not required: welder, plumber', '1 0.66 welder, 6 0.66 plumber'],
  ['Not required: welding, plumbing', '1 0.086 welding, 6 0.086 plumbing'],
  ['without welding, plumbing', '6 0.86 plumbing, 1 0.086 welding'],
  ['a plumber who does not smoke', '6 0.66 plumber'],
  // The employer, colleagues, languages and words of advertisements.
  ['welding company', '1 0.344 welding'],
  ['report to sales manager', '10 0.304 sales manager'],
  ['with the plumber', '6 0.264 plumber'],
  ['with our senior welder', '1 0.264 welder'],
  ['checking with welder', '1 0.66 welder'],
  ['Hindi or Tamil', '11 0.129 Hindi, 12 0.129 Tamil'],
  ['Hindi/Tamil', '11 0.129 Hindi, 12 0.129 Tamil'],
  ['Hindi', '11 0.645 Hindi'],
  ['immediate joiner', ''],
  ['joiner', '15 0.66 joiner'],
  ['recruitment', '13 0.86 recruitment'],
  ['recruitment by plumber', '6 0.66 plumber, 13 0.172 recruitment'],
  // Lists.
  [
    'Skills: welding, plumbing, cooking, data entry',
    '4 0.88 data entry, 1 0.86 welding, 6 0.86 plumbing, 14 0.86 cooking',
  ],
  ['- arc welding\n- plumbing', '2 0.88 arc welding, 6 0.86 plumbing'],
  ['arc and gas welding', '2 0.88 arc, 1 0.86 welding'],
]

test('each rule has its effect on the skills, the scores and the mentions', () => {
  const scoredIndex = buildSkillIndexSync(scoredSkills)
  for (const [text, expected] of SCORED_TEXTS) {
    const found = scoredIndex
      .extract(text, 10)
      .map(({ number, score, mentions }) => `${number} ${score} ${mentions.map((mention) => mention.text).join('|')}`)
    assert.equal(found.join(', '), expected, text)
  }
})

test('a clause that describes a skill without its name is a mention of the imported skill that it means', () => {
  const imported = buildSkillIndexSync([
    { number: 1_000_001, name: 'manage staff', aliases: ['supervise employees'] },
    { number: 1_000_002, name: 'analyse market trends', aliases: [] },
  ])
  const text = 'You will be responsible for managing the staff of the shop'
  const [skill] = imported.extract(text)
  assert.equal(skill?.number, 1_000_001)
  assert.ok(skill.mentions[0]!.text.includes('managing the staff'), skill.mentions[0]!.text)
  assert.equal(text.slice(skill.mentions[0]!.start, skill.mentions[0]!.end), skill.mentions[0]!.text)
})

test('a clause lists further imported skills that it may mean, with the same offsets and lower scores', () => {
  const imported = buildSkillIndexSync([
    { number: 1_000_001, name: 'manage staff', aliases: ['supervise employees'] },
    { number: 1_000_002, name: 'train staff', aliases: ['teach staff'] },
    { number: 1_000_003, name: 'weld pipes', aliases: [] },
  ])
  const found = imported.extract('You will be responsible for managing the staff of the shop')
  assert.deepEqual(
    found.map(({ number }) => number),
    [1_000_001, 1_000_002],
  )
  assert.deepEqual(found[0]!.mentions, found[1]!.mentions)
  assert.ok(found[0]!.score > found[1]!.score)
})

test('English words in Devanagari mention labels in Latin letters, even if another label contains the word in Devanagari', () => {
  const hindiIndex = buildSkillIndexSync([
    { number: 1, name: 'Customer support', aliases: [] },
    { number: 2, name: 'Call answering', aliases: ['कस्टमर केयर'] },
    { number: 3, name: 'Plumbing', aliases: [] },
  ])
  const text = 'प्लंबिंग और कस्टमर सपोर्ट का काम'
  const found = hindiIndex.extract(text).flatMap(({ number, mentions }) => `${number}:${mentions[0]!.text}`)
  assert.deepEqual(found.sort(), ['1:कस्टमर सपोर्ट', '3:प्लंबिंग'])
  assert.equal(hindiIndex.match('प्लम्बिंग', 1)[0]?.number, 3)
  assert.equal(hindiIndex.search('प्लम्बिंग').skills[0]?.number, 3)
})

test('a skill is required, preferred or not required', () => {
  const requirementOf = (text: string) => index.extract(text)[0]?.requirement
  assert.equal(requirementOf('Experience in welding is a must.'), 'required')
  assert.equal(requirementOf('Knowledge of welding is a plus.'), 'preferred')
  assert.equal(requirementOf('Good to have: welding'), 'preferred')
  assert.equal(requirementOf('Welding (preferred)'), 'preferred')
  assert.equal(requirementOf('Good to have:\nwelding'), 'preferred')
  assert.equal(requirementOf('Good to have:\n\nwelding'), 'required')
  assert.equal(requirementOf('Welding is not required.'), 'not_required')
  assert.equal(requirementOf('A bonus is paid monthly. Welding needed.'), 'required')
})

test('the score of a built-in skill is higher if the text mentions other skills of the same sub-skill', () => {
  const housekeeping = { number: 1203, name: 'Hotel housekeeping', master: { number: 12 } }
  const painting = { number: 2803, name: 'Painting', master: { number: 28 } }
  const groupedIndex = buildSkillIndexSync([
    { number: 1, name: 'Bed making', aliases: [], sub: housekeeping },
    { number: 2, name: 'Room inspection', aliases: [], sub: housekeeping },
    { number: 3, name: 'Linen counting', aliases: ['linen'], sub: housekeeping },
    { number: 4, name: 'Wall putty application', aliases: [], sub: painting },
    { number: 5, name: 'Exterior coating', aliases: [], sub: painting },
  ])
  const linenScore = (text: string) => groupedIndex.extract(text).find(({ number }) => number === 3)!.score
  const scoreAmongHousekeeping = linenScore('Bed making, room inspection, linen')
  assert.ok(scoreAmongHousekeeping > 0.5, String(scoreAmongHousekeeping))
  assert.ok(linenScore('Wall putty application, exterior coating, linen') < 0.5)
  assert.equal(linenScore('linen'), linenScore('We need linen'), 'without other skills, only the label counts')
})
