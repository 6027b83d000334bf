import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { buildSkillIndexSync } from '../skill-index.ts'

const skills = [
  { number: 1001, name: 'Bricklaying', aliases: ['brick masonry', 'raj mistri', 'राजमिस्त्री'] },
  { number: 1002, name: 'House wiring', aliases: ['bijli ka kaam', 'बिजली का काम', 'electrician'] },
  { number: 1003, name: 'Welding', aliases: ['weld work'] },
  { number: 1004, name: 'Arc welding', aliases: ['welder', 'वेल्डिंग'] },
  { number: 1005, name: 'Welding machine maintenance', aliases: [] },
  { number: 1006, name: 'Carpentry', aliases: ['wood work', 'badhai'] },
  { number: 1007, name: 'Gents tailoring', aliases: ['darzi', 'silai'] },
  { number: 1008, name: 'Database administration', aliases: ['DBA'] },
  { number: 1009, name: 'Data entry', aliases: ['typing'] },
  { number: 1010, name: 'C++', aliases: [] },
  { number: 1011, name: 'C', aliases: ['C programming'] },
  { number: 1012, name: 'Java (computer programming)', aliases: ['core Java'] },
  { number: 1013, name: 'Welding inspection', aliases: ['NDT'] },
  { number: 1014, name: 'Electrician tools handling', aliases: [] },
  { number: 1015, name: 'Forklift operation', aliases: ['fork lift driver'] },
]
const index = buildSkillIndexSync(skills)

const names = (query: string, limit = 5) => index.search(query, { limit }).skills.map(({ name }) => name)

test('an alias of an imported skill ranks below skills that people can be tested on', () => {
  const imported = [
    { number: 1_000_001, name: 'Join metals', aliases: ['arc work'] },
    { number: 1_000_002, name: 'Forge (software)', aliases: [] },
  ]
  const own = { number: 1016, name: 'Arc work on site', aliases: ['forge'], verifiable: true }
  const index = buildSkillIndexSync([...skills, own, ...imported])
  const first = (query: string) => index.search(query, { limit: 2 }).skills.map(({ name }) => name)
  assert.deepEqual(first('arc work'), ['Arc work on site', 'Join metals'])
  assert.deepEqual(first('forge'), ['Arc work on site', 'Forge (software)'])
  assert.deepEqual(first('join metals'), ['Join metals'])
})

test('the exact name ranks first, then the exact alias, then prefixes', () => {
  const found = index.search('welding').skills
  assert.equal(found[0]!.name, 'Welding')
  assert.equal(found[0]!.score, 1)
  const byAlias = index.search('electrician').skills
  assert.deepEqual(
    byAlias.map(({ name }) => name),
    ['House wiring', 'Electrician tools handling'],
  )
  assert.ok(byAlias[0]!.score > byAlias[1]!.score)
  assert.deepEqual(names('weld')[0], 'Welding')
})

test('case and spacing of a query do not matter', () => {
  assert.equal(index.search('  WELDING   machine  maintenance ').skills[0]!.score, 1)
})

test('prefixes of words find the skill', () => {
  assert.equal(names('carp')[0], 'Carpentry')
  assert.equal(names('weld mach main')[0], 'Welding machine maintenance')
})

test('each word of a query matches a different word', () => {
  const some = buildSkillIndexSync(
    ['Balance disks', 'Balance beams', 'Beams'].map((name, i) => ({ number: i + 1, name, aliases: [] })),
  )
  for (const query of ['balance b', 'bal be', 'balance be'])
    assert.equal(some.search(query).skills[0]!.name, 'Balance beams', query)
  assert.equal(some.search('balance d').skills[0]!.name, 'Balance disks')
})

test('substrings of words find the skill', () => {
  assert.equal(names('pentr')[0], 'Carpentry')
  assert.equal(names('ministrati')[0], 'Database administration')
  assert.equal(names('ta entr')[0], 'Data entry')
  assert.ok(index.search('ta entr').skills[0]!.score > 0.6)
})

test('words of four to seven letters may have one typo, longer ones two', () => {
  for (const query of ['weldng', 'wleding', 'weldinng', 'qelding']) assert.equal(names(query)[0], 'Welding', query)
  for (const query of ['carpntery', 'carpemtri', 'crapentry']) assert.equal(names(query)[0], 'Carpentry', query)
  assert.equal(names('forklfit opertion')[0], 'Forklift operation')
  assert.ok(!names('wilderness').includes('Welding'))
})

test('swapped words find the skill with a lower score', () => {
  assert.equal(names('inspection welding')[0], 'Welding inspection')
  assert.ok(index.search('inspection welding').skills[0]!.score < index.search('welding inspection').skills[0]!.score)
})

test('aliases find the skill in both scripts and in all spellings', () => {
  for (const query of ['bijli', 'bijlee', 'bijali', 'बिजली']) assert.equal(names(query)[0], 'House wiring', query)
  for (const query of ['raj mistri', 'raj mistry', 'राजमिस्त्री']) assert.equal(names(query)[0], 'Bricklaying', query)
  for (const query of ['darzi', 'darji', 'silaai']) assert.equal(names(query)[0], 'Gents tailoring', query)
  assert.equal(names('arc वेल्डिंग')[0], 'Arc welding')
  assert.equal(names('वेल्डिंग machine')[0], 'Welding machine maintenance')
})

test('fillers do not count towards the length of a name', () => {
  const some = buildSkillIndexSync([
    { number: 1, name: 'Load calculation', aliases: ['bijli load'] },
    { number: 2, name: 'House wiring', aliases: ['bijli ka kaam'] },
  ])
  for (const query of ['bijli', 'bijlee', 'bjili']) assert.equal(some.search(query).skills[0]!.number, 2, query)
  assert.ok(some.search('bijli').skills[0]!.score < some.search('bijli ka kaam').skills[0]!.score)
})

test('role words are dropped if no label contains them', () => {
  for (const query of ['forklift chalak', 'forklift chalana', 'Forklift operator chahiye'])
    assert.equal(names(query)[0], 'Forklift operation', query)
  assert.equal(names('fork lift driver')[0], 'Forklift operation')
  assert.ok(index.search('forklift chalak').skills[0]!.score > 0.8)
})

test('among skills that contain a word, the one that is about it ranks first', () => {
  const indexOf = (...entries: { name: string; aliases: string[]; verifiable?: boolean }[]) =>
    buildSkillIndexSync(entries.map((skill, i) => ({ number: i + 1, ...skill })))
  const [fence, roof] = [
    { name: 'Solar fencing', aliases: [] },
    { name: 'Solar panels', aliases: ['solar fitter', 'solar wala'] },
  ]
  assert.equal(indexOf({ ...fence, name: 'Solar fences' }, roof).search('solar').skills[0]!.name, 'Solar panels')
  const farms = indexOf({ name: 'Farming tool repair', aliases: [] }, { name: 'Pig farming', aliases: [] })
  assert.equal(farms.search('farming').total, 2)
  const named = indexOf({ name: 'Cold farms', aliases: [] }, { name: 'Wool farming', aliases: [] })
  assert.equal(named.search('farming').skills[0]!.name, 'Wool farming')
  const tested = indexOf({ name: 'Pump one', aliases: [] }, { name: 'Pump two', aliases: [], verifiable: true })
  assert.equal(tested.search('pump').skills[0]!.name, 'Pump two')
  assert.equal(tested.search('pump one').skills[0]!.name, 'Pump one')
})

test('a prefix means the most frequent word, or a word that is a whole name', () => {
  const some = buildSkillIndexSync([
    { number: 1, name: 'Secure coding', aliases: [] },
    { number: 2, name: 'Security guarding', aliases: [] },
    { number: 3, name: 'Cash security', aliases: [] },
    { number: 4, name: 'Bank security', aliases: [] },
    { number: 5, name: 'Photo printing', aliases: [] },
    { number: 6, name: 'Photography', aliases: [] },
    { number: 7, name: 'Weld defect repair', aliases: [] },
    { number: 8, name: 'Joining steel', aliases: ['welder'] },
    { number: 9, name: 'Electric fans', aliases: [] },
    { number: 10, name: 'House wiring', aliases: ['electrician'] },
  ])
  const first = (query: string) => some.search(query).skills[0]!.number
  assert.equal(first('secur'), 2)
  assert.equal(first('secure'), 1)
  assert.equal(first('phot'), 6)
  assert.equal(first('welde'), 8)
  assert.equal(first('electr'), 10)
})

test('the -ing form of a word is as good as the word itself', () => {
  const some = buildSkillIndexSync([
    { number: 1, name: 'Estimation of paint', aliases: [] },
    { number: 2, name: 'Paint manufacturing plant', aliases: [] },
    { number: 3, name: 'Wall painting', aliases: ['house painting'] },
  ])
  assert.equal(some.search('paint').skills[0]!.number, 3)
  assert.equal(some.search('paint').total, 3)
})

test('only an exact name has the score of an exact name', () => {
  const sub = { number: 1, name: 'Pumps', master: { number: 1 } }
  const pumps = buildSkillIndexSync([
    { number: 1, name: 'Pump', aliases: [] },
    { number: 2, name: 'Pumps', aliases: Array.from({ length: 9 }, (_, i) => `pump ${i}`), verifiable: true, sub },
    { number: 3, name: 'Borewell work', aliases: ['pump'], sub },
  ])
  const [name, alias, other] = pumps.search('pump').skills
  assert.deepEqual([name!.number, name!.score], [1, 1])
  assert.deepEqual([alias!.number, alias!.score], [3, 0.97])
  assert.ok(other!.score < 0.97)
})

test('joined and split words find the skill', () => {
  assert.equal(names('data base admin')[0], 'Database administration')
  assert.equal(names('weldinginspection')[0], 'Welding inspection')
  assert.equal(names('fork lift operation')[0], 'Forklift operation')
})

test('punctuation distinguishes programming languages', () => {
  assert.equal(names('c++')[0], 'C++')
  assert.equal(names('c programming')[0], 'C')
  assert.equal(names('java')[0], 'Java (computer programming)')
})

test('a word without a match does not hide the matches of the others', () => {
  assert.equal(names('carpentry xyzzyq')[0], 'Carpentry')
  assert.ok(index.search('carpentry xyzzyq').skills[0]!.score < 0.5)
})

test('a query without known words finds nothing', () => {
  for (const query of ['', '   ', '???', '😀😀😀', 'zzzzqqqq'])
    assert.deepEqual(index.search(query), { skills: [], total: 0 }, query)
})

test('hiring words are dropped', () => {
  const first = (query: string) => index.search(query, { limit: 1 }).skills[0]
  for (const query of [
    'welder required',
    'need welder',
    '2 welder chahiye',
    'welder ki zarurat hai',
    'we need a welder',
    'welder near me',
  ])
    assert.equal(first(query)?.name, 'Arc welding', query)
  assert.ok(first('electrician wanted')!.score > 0.8)
})

test('an abbreviation is not a homophone of a word', () => {
  const some = buildSkillIndexSync([
    { number: 1, name: 'Computer networking', aliases: ['CCNA'] },
    { number: 2, name: 'Home cooking', aliases: ['khana'] },
  ])
  const numbers = (query: string) => some.search(query).skills.map(({ number }) => number)
  assert.deepEqual(numbers('khaana'), [2])
  assert.deepEqual(numbers('ccna'), [1])
})

test('a filter excludes skills before they are counted', () => {
  const all = index.search('weld')
  const some = index.search('weld', { filter: (number) => number !== 1003 })
  assert.equal(some.total, all.total - 1)
  assert.ok(some.skills.every(({ number }) => number !== 1003))
})

const many = buildSkillIndexSync(
  Array.from({ length: 3000 }, (_, i) => ({
    number: i + 1,
    name: `${['Repair', 'Install', 'Inspect'][i % 3]} ${['pump', 'valve', 'motor', 'panel', 'pipe'][i % 5]} type ${i % 97} ${i % 7 ? '' : 'welding'}`,
    aliases: i % 2 ? [`pump work ${i}`] : [],
  })),
)

test('pages of one query neither skip nor repeat a skill', () => {
  for (const query of ['pump', 'repair motor', 'type 4', 'wel', 'insp valv', 'ump']) {
    const { total } = many.search(query)
    const whole = many.search(query, { limit: total })
    assert.equal(whole.skills.length, total)
    assert.equal(new Set(whole.skills.map(({ number }) => number)).size, total)
    const paged = []
    for (let offset = 0; offset < total; offset += 37) paged.push(...many.search(query, { offset, limit: 37 }).skills)
    assert.deepEqual(paged, whole.skills)
    for (let i = 1; i < total; i++) assert.ok(whole.skills[i]!.score <= whole.skills[i - 1]!.score)
    assert.deepEqual(many.search(query, { offset: total }).skills, [])
  }
})

test('other searches in between do not change the result', () => {
  const before = many.search('repair pump', { limit: 50 })
  for (const query of ['weldign', 'type', 'zzz', 'pump pump', 'installl valv']) many.search(query)
  assert.deepEqual(many.search('repair pump', { limit: 50 }), before)
})

test('a letter that a label does not contain has no position in it', () => {
  const entries = [{ number: 1, name: 'Roofing', aliases: ['java brick', 'a'] }]
  const [fresh, used] = [buildSkillIndexSync(entries), buildSkillIndexSync(entries)]
  for (const query of ['java brick', 'brick java', 'a']) used.search(query)
  assert.deepEqual(used.search('a brick'), fresh.search('a brick'))
})

test('a partial match counts the best agreement of each word', () => {
  const some = buildSkillIndexSync([{ number: 1, name: 'Roofing', aliases: ['engba', 'baeng bijli ba'] }])
  assert.equal(some.search('bijli eng layixng').total, 1)
})

test('any query returns scores from 0 to 1', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 100 }), (query) => {
      const { skills, total } = many.search(query, { limit: 20 })
      assert.ok(skills.length === Math.min(20, total))
      assert.ok(skills.every(({ score }) => score > 0 && score <= 1))
    }),
    { numRuns: 500 },
  )
})

test('queries designed to be slow are fast', () => {
  const hard = [
    'a b c d e f g h i j k l m n o p q r s t u v w x y z a b c d e f g h i j k l m n o p q r s t u v w x',
    'e'.repeat(100),
    'ing tion pump valve ele mot pan pip rep ins typ wel ump alv oto ane ipe epa nst ype eld',
    'pumppumppumppumppumppumppumppumppumppumppumppumppumppumppumppumppumppumppumppumppumppumppumppumppump',
    '्'.repeat(100),
    'ﬃ'.repeat(100),
    'aaaaaaaa '.repeat(11),
  ]
  const rounds = 20
  const before = process.threadCpuUsage()
  for (let round = 0; round < rounds; round++) for (const query of hard) many.search(query)
  const { user, system } = process.threadCpuUsage(before)
  // Each takes two or three milliseconds of CPU time, far less than this limit for all.
  assert.ok((user + system) / 1000 / rounds < 1000)
})
