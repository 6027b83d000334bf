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

const foundNames = (query: string, limit = 5) => index.search(query, { limit }).skills.map(({ name }) => name)

test('an exact alias of an ordinary imported skill ranks below a preferred skill', () => {
  const importedSkills = [
    { number: 1_000_001, name: 'Join metals', aliases: ['arc work'] },
    { number: 1_000_002, name: 'Forge (software)', aliases: [] },
  ]
  const preferredSkill = { number: 1016, name: 'Arc work on site', aliases: ['forge'], isPreferred: true }
  const indexWithImports = buildSkillIndexSync([...skills, preferredSkill, ...importedSkills])
  const firstNames = (query: string) => indexWithImports.search(query, { limit: 2 }).skills.map(({ name }) => name)
  assert.deepEqual(firstNames('arc work'), ['Arc work on site', 'Join metals'])
  assert.deepEqual(firstNames('forge'), ['Arc work on site', 'Forge (software)'])
  assert.deepEqual(firstNames('join metals'), ['Join metals'])
})

test('the exact name ranks first, then the exact alias, then prefixes', () => {
  const foundSkills = index.search('welding').skills
  assert.equal(foundSkills[0]!.name, 'Welding')
  assert.equal(foundSkills[0]!.score, 1)
  const foundByAlias = index.search('electrician').skills
  assert.deepEqual(
    foundByAlias.map(({ name }) => name),
    ['House wiring', 'Electrician tools handling'],
  )
  assert.ok(foundByAlias[0]!.score > foundByAlias[1]!.score)
  assert.deepEqual(foundNames('weld')[0], 'Welding')
})

test('typos are not considered in a last word of seven letters that begins a word of the catalogue', () => {
  const smallIndex = buildSkillIndexSync([
    { number: 1, name: 'Plumbing', aliases: [] },
    { number: 2, name: 'Plumbix', aliases: [] },
    { number: 3, name: 'Welding', aliases: [] },
    { number: 4, name: 'Weldix', aliases: [] },
  ])
  assert.equal(smallIndex.search('plumbin').total, 1)
  assert.equal(smallIndex.search('weldin').total, 2)
})

test('case and white space of a query are ignored', () => {
  assert.equal(index.search('  WELDING   machine  maintenance ').skills[0]!.score, 1)
})

test('prefixes of words find the skill', () => {
  assert.equal(foundNames('carp')[0], 'Carpentry')
  assert.equal(foundNames('weld mach main')[0], 'Welding machine maintenance')
})

test('the words of a query match different words of a label', () => {
  const smallIndex = buildSkillIndexSync(
    ['Balance disks', 'Balance beams', 'Beams'].map((name, i) => ({ number: i + 1, name, aliases: [] })),
  )
  for (const query of ['balance b', 'bal be', 'balance be'])
    assert.equal(smallIndex.search(query).skills[0]!.name, 'Balance beams', query)
  assert.equal(smallIndex.search('balance d').skills[0]!.name, 'Balance disks')
})

test('substrings of words find the skill', () => {
  assert.equal(foundNames('pentr')[0], 'Carpentry')
  assert.equal(foundNames('ministrati')[0], 'Database administration')
  assert.equal(foundNames('ta entr')[0], 'Data entry')
  assert.ok(index.search('ta entr').skills[0]!.score > 0.6)
})

test('words of four to seven letters may have one typo, longer ones two', () => {
  for (const query of ['weldng', 'wleding', 'weldinng', 'qelding']) assert.equal(foundNames(query)[0], 'Welding', query)
  for (const query of ['carpntery', 'carpemtri', 'crapentry']) assert.equal(foundNames(query)[0], 'Carpentry', query)
  assert.equal(foundNames('forklfit opertion')[0], 'Forklift operation')
  assert.ok(!foundNames('wilderness').includes('Welding'))
})

test('swapped words find the skill with a lower score', () => {
  assert.equal(foundNames('inspection welding')[0], 'Welding inspection')
  assert.ok(index.search('inspection welding').skills[0]!.score < index.search('welding inspection').skills[0]!.score)
})

test('aliases find the skill in both scripts and in all spellings', () => {
  for (const query of ['bijli', 'bijlee', 'bijali', 'बिजली']) assert.equal(foundNames(query)[0], 'House wiring', query)
  for (const query of ['raj mistri', 'raj mistry', 'राजमिस्त्री'])
    assert.equal(foundNames(query)[0], 'Bricklaying', query)
  for (const query of ['darzi', 'darji', 'silaai']) assert.equal(foundNames(query)[0], 'Gents tailoring', query)
  assert.equal(foundNames('arc वेल्डिंग')[0], 'Arc welding')
  assert.equal(foundNames('वेल्डिंग machine')[0], 'Welding machine maintenance')
})

test('filler words do not count towards the length of a label', () => {
  const smallIndex = buildSkillIndexSync([
    { number: 1, name: 'Load calculation', aliases: ['bijli load'] },
    { number: 2, name: 'House wiring', aliases: ['bijli ka kaam'] },
  ])
  for (const query of ['bijli', 'bijlee', 'bjili']) assert.equal(smallIndex.search(query).skills[0]!.number, 2, query)
  assert.ok(smallIndex.search('bijli').skills[0]!.score < smallIndex.search('bijli ka kaam').skills[0]!.score)
})

test('role words of a query are ignored if no label contains them', () => {
  for (const query of ['forklift chalak', 'forklift chalana', 'Forklift operator chahiye'])
    assert.equal(foundNames(query)[0], 'Forklift operation', query)
  assert.equal(foundNames('fork lift driver')[0], 'Forklift operation')
  assert.ok(index.search('forklift chalak').skills[0]!.score > 0.8)
})

test('a skill ranks higher if more labels contain the word, if it has the same form of the word, or if it is preferred', () => {
  const buildIndexOf = (...entries: { name: string; aliases: string[]; isPreferred?: boolean }[]) =>
    buildSkillIndexSync(entries.map((skill, i) => ({ number: i + 1, ...skill })))
  const [fencingSkill, panelSkill] = [
    { name: 'Solar fencing', aliases: [] },
    { name: 'Solar panels', aliases: ['solar fitter', 'solar wala'] },
  ]
  assert.equal(
    buildIndexOf({ ...fencingSkill, name: 'Solar fences' }, panelSkill).search('solar').skills[0]!.name,
    'Solar panels',
  )
  const farmIndex = buildIndexOf({ name: 'Farming tool repair', aliases: [] }, { name: 'Pig farming', aliases: [] })
  assert.equal(farmIndex.search('farming').total, 2)
  const formIndex = buildIndexOf({ name: 'Cold farms', aliases: [] }, { name: 'Wool farming', aliases: [] })
  assert.equal(formIndex.search('farming').skills[0]!.name, 'Wool farming')
  const preferredIndex = buildIndexOf(
    { name: 'Pump one', aliases: [] },
    { name: 'Pump two', aliases: [], isPreferred: true },
  )
  assert.equal(preferredIndex.search('pump').skills[0]!.name, 'Pump two')
  assert.equal(preferredIndex.search('pump one').skills[0]!.name, 'Pump one')
})

test('for a prefix, the most frequent word ranks first, or a word that is a whole label', () => {
  const smallIndex = buildSkillIndexSync([
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
  const firstNumber = (query: string) => smallIndex.search(query).skills[0]!.number
  assert.equal(firstNumber('secur'), 2)
  assert.equal(firstNumber('secure'), 1)
  assert.equal(firstNumber('phot'), 6)
  assert.equal(firstNumber('welde'), 8)
  assert.equal(firstNumber('electr'), 10)
})

test('the -ing form of a word ranks as high as the word itself', () => {
  const smallIndex = buildSkillIndexSync([
    { number: 1, name: 'Estimation of paint', aliases: [] },
    { number: 2, name: 'Paint manufacturing plant', aliases: [] },
    { number: 3, name: 'Wall painting', aliases: ['house painting'] },
  ])
  assert.equal(smallIndex.search('paint').skills[0]!.number, 3)
  assert.equal(smallIndex.search('paint').total, 3)
})

test('only an exact name has a score of 1', () => {
  const subSkill = { number: 1, name: 'Pumps', master: { number: 1 } }
  const pumpIndex = buildSkillIndexSync([
    { number: 1, name: 'Pump', aliases: [] },
    {
      number: 2,
      name: 'Pumps',
      aliases: Array.from({ length: 9 }, (_, i) => `pump ${i}`),
      isPreferred: true,
      sub: subSkill,
    },
    { number: 3, name: 'Borewell work', aliases: ['pump'], sub: subSkill },
  ])
  const [skillWithName, skillWithAlias, otherSkill] = pumpIndex.search('pump').skills
  assert.deepEqual([skillWithName!.number, skillWithName!.score], [1, 1])
  assert.deepEqual([skillWithAlias!.number, skillWithAlias!.score], [3, 0.97])
  assert.ok(otherSkill!.score < 0.97)
})

test('joined and split words find the skill', () => {
  assert.equal(foundNames('data base admin')[0], 'Database administration')
  assert.equal(foundNames('weldinginspection')[0], 'Welding inspection')
  assert.equal(foundNames('fork lift operation')[0], 'Forklift operation')
})

test('punctuation distinguishes programming languages', () => {
  assert.equal(foundNames('c++')[0], 'C++')
  assert.equal(foundNames('c programming')[0], 'C')
  assert.equal(foundNames('java')[0], 'Java (computer programming)')
})

test('a query word without a match does not hide the matches of the other words', () => {
  assert.equal(foundNames('carpentry xyzzyq')[0], 'Carpentry')
  assert.ok(index.search('carpentry xyzzyq').skills[0]!.score < 0.5)
})

test('a query without known words finds nothing', () => {
  for (const query of ['', '   ', '???', '😀😀😀', 'zzzzqqqq'])
    assert.deepEqual(index.search(query), { skills: [], total: 0 }, query)
})

test('hiring words of a query are ignored', () => {
  const firstSkill = (query: string) => index.search(query, { limit: 1 }).skills[0]
  for (const query of [
    'welder required',
    'need welder',
    '2 welder chahiye',
    'welder ki zarurat hai',
    'we need a welder',
    'welder near me',
  ])
    assert.equal(firstSkill(query)?.name, 'Arc welding', query)
  assert.ok(firstSkill('electrician wanted')!.score > 0.8)
})

test('an abbreviation is not a homophone of a word', () => {
  const smallIndex = buildSkillIndexSync([
    { number: 1, name: 'Computer networking', aliases: ['CCNA'] },
    { number: 2, name: 'Home cooking', aliases: ['khana'] },
  ])
  const foundNumbers = (query: string) => smallIndex.search(query).skills.map(({ number }) => number)
  assert.deepEqual(foundNumbers('khaana'), [2])
  assert.deepEqual(foundNumbers('ccna'), [1])
})

test('a filter excludes skills before they are counted', () => {
  const unfilteredResult = index.search('weld')
  const filteredResult = index.search('weld', { filter: (number) => number !== 1003 })
  assert.equal(filteredResult.total, unfilteredResult.total - 1)
  assert.ok(filteredResult.skills.every(({ number }) => number !== 1003))
})

const largeIndex = buildSkillIndexSync(
  Array.from({ length: 3000 }, (_, i) => ({
    number: i + 1,
    name: `${['Repair', 'Install', 'Inspect'][i % 3]} ${['pump', 'valve', 'motor', 'panel', 'pipe'][i % 5]} type ${i % 97} ${i % 7 ? '' : 'welding'}`,
    aliases: i % 2 ? [`pump work ${i}`] : [],
  })),
)

test('pages of one query neither skip nor repeat a skill', () => {
  for (const query of ['pump', 'repair motor', 'type 4', 'wel', 'insp valv', 'ump']) {
    const { total } = largeIndex.search(query)
    const completeResult = largeIndex.search(query, { limit: total })
    assert.equal(completeResult.skills.length, total)
    assert.equal(new Set(completeResult.skills.map(({ number }) => number)).size, total)
    const pagedSkills = []
    for (let offset = 0; offset < total; offset += 37)
      pagedSkills.push(...largeIndex.search(query, { offset, limit: 37 }).skills)
    assert.deepEqual(pagedSkills, completeResult.skills)
    for (let i = 1; i < total; i++) assert.ok(completeResult.skills[i]!.score <= completeResult.skills[i - 1]!.score)
    assert.deepEqual(largeIndex.search(query, { offset: total }).skills, [])
  }
})

test('a long page begins with the skill of the highest score', () => {
  const materials = ['pipes', 'tanks', 'frames', 'gates']
  const names = Array.from({ length: 120 }, (_, i) => `Welding ${materials[i % 4]} ${i}`)
  const weldingIndex = buildSkillIndexSync(
    [...names, 'Welding'].map((name, i) => ({ number: i + 1, name, aliases: [] })),
  )
  const { skills: longPage } = weldingIndex.search('welding', { limit: 100 })
  assert.deepEqual(longPage[0], { number: 121, name: 'Welding', score: 1 })
  assert.deepEqual(longPage.slice(0, 50), weldingIndex.search('welding', { limit: 50 }).skills)
})

test('other searches in between do not change the result of a query', () => {
  const resultBefore = largeIndex.search('repair pump', { limit: 50 })
  for (const query of ['weldign', 'type', 'zzz', 'pump pump', 'installl valv']) largeIndex.search(query)
  assert.deepEqual(largeIndex.search('repair pump', { limit: 50 }), resultBefore)
})

test('a query letter without a match does not reuse a position of an earlier query', () => {
  const entries = [{ number: 1, name: 'Roofing', aliases: ['java brick', 'a'] }]
  const [freshIndex, usedIndex] = [buildSkillIndexSync(entries), buildSkillIndexSync(entries)]
  for (const query of ['java brick', 'brick java', 'a']) usedIndex.search(query)
  assert.deepEqual(usedIndex.search('a brick'), freshIndex.search('a brick'))
})

test('a partial match counts the best-matching label word for each query word', () => {
  const smallIndex = buildSkillIndexSync([{ number: 1, name: 'Roofing', aliases: ['engba', 'baeng bijli ba'] }])
  assert.equal(smallIndex.search('bijli eng layixng').total, 1)
})

test('the scores of any query are from 0 to 1', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 100 }), (query) => {
      const { skills, total } = largeIndex.search(query, { limit: 20 })
      assert.ok(skills.length === Math.min(20, total))
      assert.ok(skills.every(({ score }) => score > 0 && score <= 1))
    }),
    { numRuns: 500 },
  )
})

test('queries designed to be slow are fast', () => {
  const slowQueries = [
    'a b c d e f g h i j k l m n o p q r s t u v w x y z a b c d e f g h i j k l m n o p q r s t u v w x',
    'e'.repeat(100),
    'ing tion pump valve ele mot pan pip rep ins typ wel ump alv oto ane ipe epa nst ype eld',
    'pumppumppumppumppumppumppumppumppumppumppumppumppumppumppumppumppumppumppumppumppumppumppumppumppump',
    '्'.repeat(100),
    'ﬃ'.repeat(100),
    'aaaaaaaa '.repeat(11),
  ]
  const rounds = 20
  const cpuUsageBefore = process.threadCpuUsage()
  for (let round = 0; round < rounds; round++) for (const query of slowQueries) largeIndex.search(query)
  const { user, system } = process.threadCpuUsage(cpuUsageBefore)
  // Each query takes two or three milliseconds of CPU time, far less than this limit for all queries.
  assert.ok((user + system) / 1000 / rounds < 1000)
})
