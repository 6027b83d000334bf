import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { Taxonomy } from '../taxonomy.ts'
import { readEsco } from './esco.ts'
import { readLightcast } from './lightcast.ts'
import { readOnet } from './onet.ts'
import { readOwnCsv } from './own-csv.ts'

async function folder(t: TestContext, files: Record<string, string | Buffer>): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'attestry-taxonomy-'))
  t.after(() => rm(path, { recursive: true, force: true }))
  for (const [name, content] of Object.entries(files)) await writeFile(join(path, name), content)
  return path
}

/** `skill: master > sub-skill`, in the order read. */
function placed({ masters, subSkills, skills }: Taxonomy): string[] {
  return skills.map(({ name, subSkill }) => {
    const sub = subSkills.find(({ id }) => id === subSkill)!
    return `${name}: ${masters.find(({ id }) => id === sub.master)!.name} > ${sub.name}`
  })
}

const HIERARCHY = [
  'Level 0 URI,Level 0 preferred term,Level 1 URI,Level 1 preferred term,Level 2 URI,Level 2 preferred term,Level 3 URI,Level 3 preferred term,Description,Scope note,Level 0 code,Level 1 code,Level 2 code,Level 3 code',
  // Shorter rows than the heading, as in the real file.
  'u:s,abilities,,,,,,,,,S',
  'u:s,abilities,u:s1,moving,,,,,,,S,S1',
  'u:s,abilities,u:s1,moving,u:s1.1,lifting,,,"Lifting,\nand carrying.",,S,S1,S1.1',
  'u:s,abilities,u:s1,moving,u:s1.1,lifting,u:s1.1.1,lifting by crane,,,S,S1,S1.1,S1.1.1',
  'u:s,abilities,u:s2,making,u:s2.1,joining,,,,,S,S2,S2.1',
].join('\r\n')

const BROADER = [
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

const ESCO = `\uFEFF"conceptType",conceptUri,skillType,preferredLabel,altLabels,hiddenLabels,status,definition,description\r
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
  'skills_en.csv': ESCO,
  'skillsHierarchy_en.csv': HIERARCHY,
  'broaderRelationsSkillPillar_en.csv': BROADER,
}

test('ESCO: nearest group, then lowest code; level 1 and level 2', async (t) => {
  const taxonomy = await readEsco(await folder(t, escoFiles))
  assert.deepEqual(placed(taxonomy), [
    'operate crane: moving > lifting',
    'rig loads: moving > lifting',
    'sling loads: moving > lifting',
    'near group: making > joining',
    'at level one: moving > moving',
    'in a loop: other skills > other skills',
    'short row: other skills > other skills',
  ])
  assert.deepEqual(taxonomy.refused, [
    { at: 'skills_en.csv:12', row: 'steam cranes', reason: 'ESCO calls it obsolete' },
  ])
})

test('ESCO: byte order mark, line breaks and quotes in cells, empty columns, lines where rows begin', async (t) => {
  const { skills } = await readEsco(await folder(t, escoFiles))
  assert.deepEqual(
    skills.slice(0, 4).map(({ id, aliases, description, at }) => ({ id, aliases, description, at })),
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

test('what is not a download of ESCO is told', async (t) => {
  const { 'skillsHierarchy_en.csv': _, ...rest } = escoFiles
  const cases: [string, RegExp][] = [
    [await folder(t, rest), /expected the folder of the ESCO download in CSV; missing: skillsHierarchy_en\.csv/],
    ['/nowhere/at/all', /there is no such folder/],
    [join(await folder(t, escoFiles), 'skills_en.csv'), /not a file/],
    [
      await folder(t, { ...escoFiles, 'skills_en.csv': 'uri,label\nu:1,x\n' }),
      /skills_en\.csv: there is no column conceptUri, preferredLabel, .*its first line has: uri, label/,
    ],
    [await folder(t, { ...escoFiles, 'skills_en.csv': '' }), /skills_en\.csv is empty/],
    [await folder(t, { ...escoFiles, 'skills_en.csv': Buffer.from('conceptUri\ncaf\xe9', 'latin1') }), /is not UTF-8/],
    [
      await folder(t, { ...escoFiles, 'skills_en.csv': ESCO.replace('row\r\n', '"row\n') }),
      /skills_en\.csv: a quotation mark .* at line \d+/,
    ],
  ]
  for (const [path, expected] of cases) await assert.rejects(readEsco(path), expected)
})

const onetFiles = {
  'UNSPSC Reference.txt': [
    'Commodity Code\tCommodity Title\tClass Code\tClass Title\tFamily Code\tFamily Title\tSegment Code\tSegment Title',
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

test('O*NET: technology and tools under UNSPSC, work activities under the content model', async (t) => {
  const taxonomy = await readOnet(await folder(t, onetFiles))
  assert.deepEqual(placed(taxonomy), [
    'Tabulator: Information technology > Office software',
    'Even: Information technology > Office software',
    'Claw hammers 16": Tools and machinery > Hand tools',
    'Read drawings: Input > Getting information',
  ])
  assert.deepEqual(
    taxonomy.skills.map(({ id, description }) => [id, description]),
    [
      ['technology:Tabulator', 'Spreadsheet software'],
      ['technology:Even', 'Spreadsheet software'],
      ['tool:Claw hammers 16"', 'Hammers'],
      ['4.A.1.a.1.I01.D01', ''],
    ],
  )
  assert.deepEqual(taxonomy.refused, [
    { at: 'Tools Used.txt:3', row: 'Lost things', reason: 'its commodity 99999999 is not in UNSPSC Reference.txt' },
    { at: 'DWA Reference.txt:3', row: 'Do the unknown', reason: '4.A.9.a.1 is not in Content Model Reference.txt' },
  ])
})

test('Lightcast: categories and subcategories, where there are any', async (t) => {
  const item = (id: string, name: string, more: object) => ({
    id,
    name,
    type: { id: 'ST1', name: 'Specialized' },
    ...more,
  })
  const place = { category: { id: 1, name: 'Trades' }, subcategory: { id: 2, name: 'Joining' } }
  const data: unknown[] = [
    item('KS1', 'Fictitious Welding', { description: 'Joins.', infoUrl: 'https://example.org/KS1', ...place }),
    item('KS2', 'Unplaced', { category: null, subcategory: { id: 0, name: null } }),
    item('KS3', 'Half placed', { category: place.category }),
    { id: 7, name: 'Number for an id' },
    null,
  ]
  const path = await folder(t, {
    'a.json': `\uFEFF${JSON.stringify({ data })}`,
    'b.json': JSON.stringify(data),
    'c.json': '{"data": {}}',
    'd.json': '{"data": [',
  })
  const taxonomy = await readLightcast(join(path, 'a.json'))
  assert.deepEqual(placed(taxonomy), [
    'Fictitious Welding: Trades > Joining',
    'Unplaced: Other skills > Other skills',
    'Half placed: Trades > Other skills',
  ])
  assert.equal(taxonomy.skills[0]!.id, 'KS1')
  assert.equal(taxonomy.skills[0]!.description, 'Joins.')
  assert.deepEqual(
    taxonomy.refused.map(({ at }) => at),
    ['a.json, item 4', 'a.json, item 5'],
  )
  assert.equal((await readLightcast(join(path, 'b.json'))).skills.length, 3)
  await assert.rejects(readLightcast(join(path, 'c.json')), /c\.json: expected \{ "data"/)
  await assert.rejects(readLightcast(join(path, 'd.json')), /d\.json is not valid JSON/)
})

test('our own CSV: columns in any order, what is missing or wrong is refused by line', async (t) => {
  const text = `Name,ID,sub_skill,master_skill,aliases,Verifiable,notes
Kite making,k1,Paper craft,Crafts,"patang; पतंग बनाना;",yes,ours
"Lanterns, paper",k2,Paper craft,Crafts,,no,
Brick art,k3,ss_101,,,,
No place,k4,,Crafts,,,
No master,k5,Paper craft,,,,
Odd flag,k6,Paper craft,Crafts,,maybe,
Lanterns, silk,k7,Paper craft,Crafts,,no,
`
  const path = join(await folder(t, { 'skills.csv': text }), 'skills.csv')
  const { skills, masters, subSkills, refused } = await readOwnCsv(path)
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
  const place = 'it needs a sub_skill and a master_skill, or an existing ss_N as its sub_skill'
  assert.deepEqual(
    refused.map(({ at, reason }) => `${at} ${reason}`),
    [
      `skills.csv:5 ${place}`,
      `skills.csv:6 ${place}`,
      'skills.csv:7 verifiable is maybe; expected true or false',
      'skills.csv:8 it has more cells than the first line has columns; quote cells that hold commas',
    ],
  )
  const twice = join(await folder(t, { 'twice.csv': 'id,name,Name,sub_skill\nk1,Kites,Dragons,ss_101\n' }), 'twice.csv')
  await assert.rejects(
    readOwnCsv(twice),
    /^Error: twice\.csv: there are two columns called name; which one is meant\?$/,
  )
})

test('our own CSV: what is wrong with the file is told with its line', async (t) => {
  const heading = 'id,name,sub_skill,master_skill'
  const cases: [string, RegExp][] = [
    [
      `${heading}\nk1,Kites,Paper,Crafts\nk2,"Big, kites,Paper,Crafts\nk3,Fans,Paper,Crafts\n`,
      /has no end, in the row at line 3;/,
    ],
    [
      `${heading}\nk1,"Two\nlines",Paper,Crafts\nk2,"Kites "big"",Paper,Crafts\n`,
      /in the middle of a cell.* at line 4;/,
    ],
    [`${heading}\nk1,Kites 5" big,Paper,Crafts\n`, /in the middle of a cell, in the row at line 2;/],
    [`${heading},alias\nk1,Kites,Paper,Crafts,patang\n`, /a column alias, which is not known\. Is aliases meant\?/],
    [
      `${heading},Verifable\nk1,Kites,Paper,Crafts,yes\n`,
      /a column Verifable, which is not known\. Is verifiable meant\?/,
    ],
  ]
  for (const [text, told] of cases)
    await assert.rejects(readOwnCsv(join(await folder(t, { 'bad.csv': text }), 'bad.csv')), told)
  const ids = `${heading},remark\nk1,Kites,Paper,ms_2,x\nk2,Fans,sk_2001,Crafts,x\nk3,Hats,Paper,Crafts,x\n`
  const { skills, refused } = await readOwnCsv(join(await folder(t, { 'ids.csv': ids }), 'ids.csv'))
  assert.deepEqual([skills.length, refused.map(({ at }) => at)], [1, ['ids.csv:2', 'ids.csv:3']])
})
