import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { buildSkillIndexAtOnce } from './skill-index.ts'

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
const index = buildSkillIndexAtOnce(skills)

const mentions = (text: string) =>
  index.extract(text, 100).flatMap((skill) => skill.mentions.map((mention) => `${skill.number}:${mention.text}`))
const score = (text: string, number: number) =>
  index.extract(text, 100).find((skill) => skill.number === number)?.score ?? 0

test('names and aliases are found with their place in the text', () => {
  const text = 'Wanted: a Welder for welding and data entry.'
  const found = index.extract(text)
  const welding = found.find(({ number }) => number === 1)!
  assert.deepEqual(welding.mentions, [
    { start: 10, end: 16, text: 'Welder' },
    { start: 21, end: 28, text: 'welding' },
  ])
  for (const skill of found)
    for (const { start, end, text: slice } of skill.mentions) assert.equal(text.slice(start, end), slice)
})

test('offsets count UTF-16 units, through emoji, Devanagari and combining marks', () => {
  const text = '👷🏽‍♀️🔥 वेल्डिंग 😀 cre\u0300me bru\u0302le\u0301e, बिजली का काम'
  const found = index.extract(text)
  for (const skill of found)
    for (const { start, end, text: slice } of skill.mentions) assert.equal(text.slice(start, end), slice)
  assert.deepEqual(mentions(text).sort(), ['11:बिजली का काम', '12:cre\u0300me bru\u0302le\u0301e', '1:वेल्डिंग'])
})

test('of overlapping mentions the longest stays', () => {
  assert.deepEqual(mentions('welding machine maintenance'), ['2:welding machine maintenance'])
  assert.deepEqual(mentions('welding machine operation').sort(), ['1:welding', '3:machine operation'])
  assert.deepEqual(mentions('arc welding machine maintenance'), ['2:welding machine maintenance'])
})

test('plural, verb, hyphen and spelling variants are found', () => {
  for (const [text, found] of [
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
    assert.deepEqual(mentions(text), [found], text)
})

test('a word alone is taken in its own form only', () => {
  assert.deepEqual(mentions('we weld and plumb'), [])
  const soldering = buildSkillIndexAtOnce([
    { number: 1, name: 'Soldering', aliases: [] },
    { number: 2, name: 'Brazing', aliases: ['solder'] },
  ])
  assert.deepEqual(
    soldering.extract('soldering, solders').map(({ number, mentions }) => [number, mentions[0]!.text]),
    [
      [1, 'soldering'],
      [2, 'solders'],
    ],
  )
})

test('Hindi is found in other spellings, also of a single word', () => {
  const hindi = buildSkillIndexAtOnce([{ number: 1, name: 'Tailoring', aliases: ['silai', 'सिलाई', 'हिंदी सिलाई'] }])
  for (const text of ['silaai', 'सिलायी', 'हिन्दी सिलाई'])
    assert.deepEqual(
      hindi.extract(text).map(({ mentions }) => mentions[0]!.text),
      [text],
    )
})

const site = buildSkillIndexAtOnce([
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
const onSite = (text: string) =>
  site
    .extract(text)
    .flatMap((skill) => skill.mentions.map((mention) => `${skill.number}:${mention.text}`))
    .sort()

test('a name is found the other way round, and over the small words that link it', () => {
  for (const [text, found] of [
    ['loading of trucks', '3:loading of trucks'],
    ['you load the trucks', '3:load the trucks'],
    ['installation of pumps', '4:installation of pumps'],
    ['pump ki fitting', '4:pump ki fitting'],
  ] as const)
    assert.deepEqual(onSite(text), [found], text)
  for (const text of ['truck, loading', 'installation pumps', 'load of the the the trucks'])
    assert.deepEqual(onSite(text), [], text)
})

test('a word that two names share is said once', () => {
  assert.deepEqual(onSite('wheel alignment and balancing on a machine'), ['1:wheel alignment', '2:balancing'])
  assert.deepEqual(onSite('wheel alignment and balancing sheets'), ['1:wheel alignment'])
  assert.deepEqual(onSite('accident and near-miss investigation'), ['5:accident'])
  assert.deepEqual(onSite('accident. And near miss investigation'), [])
})

test('an activity is found without the words that round it off, a thing is not', () => {
  assert.deepEqual(onSite('welding, cutting'), ['6:welding'])
  assert.deepEqual(onSite('bijli, pani free'), [])
})

test('what every advertisement says is listed with a low score', () => {
  assert.ok(site.extract('call HR')[0]!.score < 0.5)
  assert.ok(site.extract('Accident investigation')[0]!.score > 0.5)
})

test('a part of a compound and a small Hindi word are nothing else', () => {
  assert.deepEqual(onSite('RS-CIT certificate'), [])
  assert.deepEqual(onSite('CIT'), ['9:CIT'])
  assert.deepEqual(onSite('काम करने'), [])
})

test('words of two sentences or list items make no mention together', () => {
  for (const text of ['data. Entry', 'Data\nEntry', 'data, entry', 'data - entry'])
    assert.deepEqual(mentions(text), [], text)
})

test('everyday words count only when written like the skill', () => {
  assert.deepEqual(mentions('you go there, r we less'), [])
  assert.deepEqual(mentions('we use Go, R and LESS').sort(), ['14:LESS', '8:Go', '9:R'])
  assert.deepEqual(mentions('Go to the site. Go on.'), [])
  assert.deepEqual(mentions('Skills: Go and more; Python, Go, Rust\nGo\nRust'), ['8:Go', '8:Go', '8:Go'])
  assert.deepEqual(mentions('golang and r programming').sort(), ['8:golang', '9:r programming'])
})

test('what is not asked for is found and scored low', () => {
  const asked = score('experience in welding needed', 1)
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
  ]) {
    assert.ok(score(text, 1) > 0, text)
    assert.ok(score(text, 1) < asked / 2, text)
  }
})

test('a no elsewhere changes nothing', () => {
  const asked = score('experience in welding needed', 1)
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
  ])
    assert.equal(score(text, 1), asked, text)
})

test('a skill asked for somewhere is asked for', () => {
  assert.ok(score('no welding on Sundays. Welding needed', 1) >= score('welding', 1))
})

test('the surest come first, no more than asked for', () => {
  const text = 'no plumbing needed; welding, welding and typing'
  const found = index.extract(text)
  assert.deepEqual(
    found.map(({ number }) => number),
    [1, 10, 6],
  )
  for (let i = 1; i < found.length; i++) assert.ok(found[i]!.score <= found[i - 1]!.score)
  assert.equal(index.extract(text, 2).length, 2)
  assert.ok(score('welding. welding', 1) > score('welding', 1))
})

test('mentions never overlap and always are what the text says', () => {
  const words = skills
    .flatMap(({ name, aliases }) => [name, ...aliases])
    .concat(['and', '👷', '\n', ', ', 'का', 'no', '\ud800', 'e\u0301', 'ﬁ'])
  fc.assert(
    fc.property(
      fc.array(fc.oneof(fc.constantFrom(...words), fc.string({ unit: 'grapheme', maxLength: 6 })), { maxLength: 30 }),
      (parts) => {
        const text = parts.join(' ')
        const all = index.extract(text, 100).flatMap((skill) => skill.mentions)
        for (const { start, end, text: slice } of all) assert.equal(text.slice(start, end), slice)
        all.sort((a, b) => a.start - b.start)
        for (let i = 1; i < all.length; i++) assert.ok(all[i]!.start >= all[i - 1]!.end)
      },
    ),
    { numRuns: 500 },
  )
})

test('the longest text is no trouble, whatever is in it', () => {
  for (const unit of ['welding machine ', 'e-', '&', "'", '. ', 'welding-', 'ﬃ', '्क', '\ud83d', 'no '])
    index.extract(unit.repeat(50_000 / unit.length), 100)
  assert.equal(index.extract('welding '.repeat(6250), 1)[0]!.mentions.length, 6250)
})

test('a text without skills has none', () => {
  for (const text of ['', ' ', '…', 'the of and', '😀']) assert.deepEqual(index.extract(text), [])
})

test('a Hindi word is not taken for an abbreviation that sounds like it', () => {
  const some = buildSkillIndexAtOnce([{ number: 1, name: 'Amazon Web Services', aliases: ['AWS', 'CIT'] }])
  assert.deepEqual(some.extract('आवास सहित वेतन'), [])
  assert.equal(some.extract('AWS')[0]!.number, 1)
})
