import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { Taxonomy } from '../taxonomy.ts'
import { readCsv } from './csv.ts'
import { readEsco } from './esco.ts'
import { readLightcast } from './lightcast.ts'
import { readOnet } from './onet.ts'

async function createFolder(t: TestContext, files: Record<string, string | Buffer>): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'attestry-taxonomy-'))
  t.after(() => rm(path, { recursive: true, force: true }))
  for (const [name, content] of Object.entries(files)) await writeFile(join(path, name), content)
  return path
}

/** Returns `skill: master > sub-skill` for each skill, in file order. */
function hierarchyPaths({ masters, subSkills, skills }: Taxonomy): string[] {
  return skills.map(({ name, subSkill }) => {
    const sub = subSkills.find(({ id }) => id === subSkill)!
    return `${name}: ${masters.find(({ id }) => id === sub.master)!.name} > ${sub.name}`
  })
}

const ESCO_HIERARCHY = [
  'Level 0 URI,Level 0 preferred term,Level 1 URI,Level 1 preferred term,Level 2 URI,Level 2 preferred term,Level 3 URI,Level 3 preferred term,Description,Scope note,Level 0 code,Level 1 code,Level 2 code,Level 3 code',
  // Rows shorter than the header, as in the real file.
  'u:s,abilities,,,,,,,,,S',
  'u:s,abilities,u:s1,moving,,,,,,,S,S1',
  'u:s,abilities,u:s1,moving,u:s1.1,lifting,,,"Lifting,\nand carrying.",,S,S1,S1.1',
  'u:s,abilities,u:s1,moving,u:s1.1,lifting,u:s1.1.1,lifting by crane,,,S,S1,S1.1,S1.1.1',
  'u:s,abilities,u:s2,making,u:s2.1,joining,,,,,S,S2,S2.1',
].join('\r\n')

const ESCO_BROADER_RELATIONS = [
  'conceptType,conceptUri,broaderType,broaderUri',
  'K,u:crane,G,u:s1.1.1',
  'K,u:rig,G,u:s2.1',
  'K,u:rig,G,u:s1.1',
  'K,u:sling,K,u:rig',
  'K,u:sling,K,u:crane',
  'K,u:near,K,u:rig',
  'K,u:near,G,u:s2.1',
  'K,u:top,G,u:s1',
  'K,u:loop-a,K,u:loop-b',
  'K,u:loop-b,K,u:loop-a',
].join('\n')

const ESCO_SKILLS = `\uFEFF"conceptType",conceptUri,skillType,preferredLabel,altLabels,hiddenLabels,status,definition,description\r
K,u:crane,s,operate crane,"run crane
drive crane
run crane",,released,,"Lift loads,
""safely""."\r
K,u:rig,s,rig loads,,rigging,released,Defined.,\r
K,u:sling,s,sling loads,,,released,,\r
\r
K,u:near,s,near group,,,released,,\r
K,u:top,s,at level one,,,,,\r
K,u:loop-a,s,in a loop,,,released,,\r
K,u:old,s,steam cranes,,,obsolete,,\r
K,u:short,s,short row\r
`

const escoFiles = {
  'skills_en.csv': ESCO_SKILLS,
  'skillsHierarchy_en.csv': ESCO_HIERARCHY,
  'broaderRelationsSkillPillar_en.csv': ESCO_BROADER_RELATIONS,
}

test('ESCO: a skill is assigned to the closest group, or to the one with the lowest code if several are equally close', async (t) => {
  const taxonomy = await readEsco(await createFolder(t, escoFiles))
  assert.deepEqual(hierarchyPaths(taxonomy), [
    'operate crane: moving > lifting',
    'rig loads: moving > lifting',
    'sling loads: moving > lifting',
    'near group: making > joining',
    'at level one: moving > moving',
    'in a loop: other skills > other skills',
    'short row: other skills > other skills',
  ])
  assert.deepEqual(taxonomy.rejected, [
    { at: 'skills_en.csv:12', row: 'steam cranes', reason: 'its ESCO status is obsolete, not released' },
  ])
})

test('ESCO: byte order marks, line breaks and quotation marks in cells, empty cells and line numbers are parsed', async (t) => {
  const { skills } = await readEsco(await createFolder(t, escoFiles))
  assert.deepEqual(
    skills.slice(0, 4).map(({ id, aliases, description, location: at }) => ({ id, aliases, description, at })),
    [
      {
        id: 'u:crane',
        aliases: ['run crane', 'drive crane', 'run crane', ''],
        description: 'Lift loads,\n"safely".',
        at: 'skills_en.csv:2',
      },
      { id: 'u:rig', aliases: ['', 'rigging'], description: 'Defined.', at: 'skills_en.csv:6' },
      { id: 'u:sling', aliases: ['', ''], description: '', at: 'skills_en.csv:7' },
      { id: 'u:near', aliases: ['', ''], description: '', at: 'skills_en.csv:9' },
    ],
  )
})

test('ESCO: an invalid folder or file is reported', async (t) => {
  const { 'skillsHierarchy_en.csv': _, ...filesWithoutHierarchy } = escoFiles
  const cases: [string, RegExp][] = [
    [
      await createFolder(t, filesWithoutHierarchy),
      /expected the folder of the ESCO CSV download; missing: skillsHierarchy_en\.csv/,
    ],
    ['/nowhere/at/all', /folder not found/],
    [join(await createFolder(t, escoFiles), 'skills_en.csv'), /not a file/],
    [
      await createFolder(t, { ...escoFiles, 'skills_en.csv': 'uri,label\nu:1,x\n' }),
      /skills_en\.csv: required columns missing: conceptUri, preferredLabel, .*the first line has: uri, label/,
    ],
    [await createFolder(t, { ...escoFiles, 'skills_en.csv': '' }), /skills_en\.csv is empty/],
    [
      await createFolder(t, { ...escoFiles, 'skills_en.csv': Buffer.from('conceptUri\ncaf\xe9', 'latin1') }),
      /is not encoded in UTF-8/,
    ],
    [
      await createFolder(t, { ...escoFiles, 'skills_en.csv': ESCO_SKILLS.replace('row\r\n', '"row\n') }),
      /skills_en\.csv: quotation mark in the middle of a cell .*at line \d+/,
    ],
  ]
  for (const [path, expected] of cases) await assert.rejects(readEsco(path), expected)
})

const onetFiles = {
  'UNSPSC Reference.txt': [
    'Commodity Code\tCommodity Title\tClass Code\tClass Title\tFamily Code\tFamily Title\tSegment Code\tSegment Title',
    '27110002\t\t27110000\tHand tools\t27100000\tTools\t27000000\tTools and machinery',
    '27110001\tHammers\t27110000\tHand tools\t27100000\tTools\t27000000\tTools and machinery',
    '43230001\tSpreadsheet software\t43230000\tOffice software\t43200000\tSoftware\t43000000\tInformation technology',
    '43230002\tDatabase software\t43230100\tData software\t43200000\tSoftware\t43000000\tInformation technology',
  ].join('\r\n'),
  'Technology Skills.txt': [
    'O*NET-SOC Code\tExample\tCommodity Code\tCommodity Title\tHot Technology\tIn Demand',
    '1\tTabulator\t43230002\tDatabase software\tN\tN',
    '2\tTabulator\t43230001\tSpreadsheet software\tN\tN',
    '3\tTabulator\t43230001\tSpreadsheet software\tN\tN',
    '4\tEven\t43230002\tDatabase software\tN\tN',
    '5\tEven\t43230001\tSpreadsheet software\tN\tN',
  ].join('\n'),
  'Tools Used.txt': [
    'O*NET-SOC Code\tExample\tCommodity Code\tCommodity Title',
    '1\tClaw hammers 16"\t27110001\tHammers',
    '2\tLost things\t99999999\tUnknown',
    '3\tSpanners\t27110002\tWrenches',
  ].join('\n'),
  'DWA Reference.txt': [
    'Element ID\tIWA ID\tDWA ID\tDWA Title',
    '4.A.1.a.1\t4.A.1.a.1.I01\t4.A.1.a.1.I01.D01\tRead drawings.',
    '4.A.9.a.1\t4.A.9.a.1.I01\t4.A.9.a.1.I01.D01\tDo the unknown.',
  ].join('\n'),
  'Content Model Reference.txt': [
    'Element ID\tElement Name\tDescription',
    '4.A.1\tInput\tWhere.',
    '4.A.1.a.1\tGetting information\tHow.',
  ].join('\n'),
}

test('O*NET: technology and tools use the UNSPSC hierarchy, work activities use the content model', async (t) => {
  const taxonomy = await readOnet(await createFolder(t, onetFiles))
  assert.deepEqual(hierarchyPaths(taxonomy), [
    'Tabulator: Information technology > Office software',
    'Even: Information technology > Office software',
    'Claw hammers 16": Tools and machinery > Hand tools',
    'Spanners: Tools and machinery > Hand tools',
    'Read drawings: Input > Getting information',
  ])
  assert.deepEqual(
    taxonomy.skills.map(({ id, description }) => [id, description]),
    [
      ['technology:Tabulator', 'Spreadsheet software'],
      ['technology:Even', 'Spreadsheet software'],
      ['tool:Claw hammers 16"', 'Hammers'],
      ['tool:Spanners', 'Wrenches'],
      ['4.A.1.a.1.I01.D01', ''],
    ],
  )
  assert.deepEqual(taxonomy.rejected, [
    { at: 'Tools Used.txt:3', row: 'Lost things', reason: 'commodity code 99999999 is not in UNSPSC Reference.txt' },
    {
      at: 'DWA Reference.txt:3',
      row: 'Do the unknown',
      reason: 'element ID 4.A.9.a.1 is not in Content Model Reference.txt',
    },
  ])
})

test('Lightcast: categories and subcategories become groups, if present', async (t) => {
  const lightcastSkill = (id: string, name: string, fields: object) => ({
    id,
    name,
    type: { id: 'ST1', name: 'Specialized' },
    ...fields,
  })
  const categories = { category: { id: 1, name: 'Trades' }, subcategory: { id: 2, name: 'Joining' } }
  const data: unknown[] = [
    lightcastSkill('KS1', 'Fictitious Welding', {
      description: 'Joins.',
      infoUrl: 'https://example.org/KS1',
      ...categories,
    }),
    lightcastSkill('KS2', 'No category', { category: null, subcategory: { id: 0, name: null } }),
    lightcastSkill('KS3', 'No subcategory', { category: categories.category }),
    { id: 7, name: 'Number for an id' },
    null,
  ]
  const path = await createFolder(t, {
    'a.json': `\uFEFF${JSON.stringify({ data })}`,
    'b.json': JSON.stringify(data),
    'c.json': '{"data": {}}',
    'd.json': '{"data": [',
  })
  const taxonomy = await readLightcast(join(path, 'a.json'))
  assert.deepEqual(hierarchyPaths(taxonomy), [
    'Fictitious Welding: Trades > Joining',
    'No category: Other skills > Other skills',
    'No subcategory: Trades > Other skills',
  ])
  assert.equal(taxonomy.skills[0]!.id, 'KS1')
  assert.equal(taxonomy.skills[0]!.description, 'Joins.')
  assert.deepEqual(
    taxonomy.rejected.map(({ at }) => at),
    ['a.json, item 4', 'a.json, item 5'],
  )
  assert.equal((await readLightcast(join(path, 'b.json'))).skills.length, 3)
  await assert.rejects(readLightcast(join(path, 'c.json')), /c\.json: expected \{ "data"/)
  await assert.rejects(readLightcast(join(path, 'd.json')), /d\.json is not valid JSON/)
})

test('CSV: verifiable is true for true, yes, 1 and v, and false for false, no, 0, - and nothing', async (t) => {
  const flags = { true: true, YES: true, 1: true, v: true, false: false, No: false, 0: false, '-': false, '': false }
  const rows = Object.keys(flags).map((flag, index) => `k${index},Kite ${index},Paper craft,Crafts,${flag}`)
  const csv = `id,name,sub_skill,master_skill,verifiable\n${rows.join('\n')}\n`
  const path = join(await createFolder(t, { 'skills.csv': csv }), 'skills.csv')
  const { skills, rejected } = await readCsv(path)
  assert.deepEqual(rejected, [])
  assert.deepEqual(
    skills.map(({ verifiable }) => verifiable),
    Object.values(flags),
  )
})

test('CSV: columns can be in any order, and invalid rows are rejected with their line', async (t) => {
  const csv = `Name,ID,sub_skill,master_skill,aliases,Verifiable,notes
Kite making,k1,Paper craft,Crafts,"patang; पतंग बनाना;",yes,ours
"Lanterns, paper",k2,Paper craft,Crafts,,no,
Brick art,k3,ss_101,,,,
No sub-skill,k4,,Crafts,,,
No master,k5,Paper craft,,,,
Odd flag,k6,Paper craft,Crafts,,maybe,
Lanterns, silk,k7,Paper craft,Crafts,,no,
`
  const path = join(await createFolder(t, { 'skills.csv': csv }), 'skills.csv')
  const { skills, masters, subSkills, rejected } = await readCsv(path)
  assert.deepEqual(
    skills.map(({ id, name, verifiable, aliases }) => [id, name, verifiable, aliases.filter(Boolean).length]),
    [
      ['k1', 'Kite making', true, 2],
      ['k2', 'Lanterns, paper', false, 0],
      ['k3', 'Brick art', false, 0],
    ],
  )
  assert.deepEqual(masters, [{ id: 'crafts', name: 'Crafts' }])
  assert.deepEqual(
    subSkills.map(({ name, number }) => [name, number]),
    [
      ['Paper craft', undefined],
      ['ss_101', 101],
    ],
  )
  const groupsRequired =
    'sub_skill and master_skill are required, unless sub_skill is the ID of an existing sub-skill (ss_N)'
  assert.deepEqual(
    rejected.map(({ at, reason }) => `${at} ${reason}`),
    [
      `skills.csv:5 ${groupsRequired}`,
      `skills.csv:6 ${groupsRequired}`,
      'skills.csv:7 verifiable must be true or false; got maybe',
      'skills.csv:8 the row has more cells than the header; put cells that contain commas in quotation marks',
    ],
  )
  const repeatedColumnPath = join(
    await createFolder(t, { 'repeated.csv': 'id,name,Name,sub_skill\nk1,Kites,Dragons,ss_101\n' }),
    'repeated.csv',
  )
  await assert.rejects(
    readCsv(repeatedColumnPath),
    /^Error: repeated\.csv: column name appears more than once; remove or rename the duplicates$/,
  )
})

test('CSV: an invalid file is reported with the line of the error', async (t) => {
  const header = 'id,name,sub_skill,master_skill'
  const cases: [string, RegExp][] = [
    [
      `${header}\nk1,Kites,Paper,Crafts\nk2,"Big, kites,Paper,Crafts\nk3,Fans,Paper,Crafts\n`,
      /unclosed quotation mark in the row at line 3;/,
    ],
    [
      `${header}\nk1,"Two\nlines",Paper,Crafts\nk2,"Kites "big"",Paper,Crafts\n`,
      /in the middle of a cell.* at line 4;/,
    ],
    [`${header}\nk1,Kites 5" big,Paper,Crafts\n`, /quotation mark in the middle of a cell in the row at line 2;/],
    [`${header},alias\nk1,Kites,Paper,Crafts,patang\n`, /unknown column alias\. Did you mean aliases\?/],
    [`${header},Verifable\nk1,Kites,Paper,Crafts,yes\n`, /unknown column Verifable\. Did you mean verifiable\?/],
  ]
  for (const [text, expected] of cases)
    await assert.rejects(readCsv(join(await createFolder(t, { 'bad.csv': text }), 'bad.csv')), expected)
  const csvWithMisplacedIds = `${header},remark\nk1,Kites,Paper,ms_2,x\nk2,Fans,sk_2001,Crafts,x\nk3,Hats,Paper,Crafts,x\n`
  const { skills, rejected } = await readCsv(join(await createFolder(t, { 'ids.csv': csvWithMisplacedIds }), 'ids.csv'))
  assert.deepEqual([skills.length, rejected.map(({ at }) => at)], [1, ['ids.csv:2', 'ids.csv:3']])
})
