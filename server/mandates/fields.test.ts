import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aMandate, startApp } from '../../test/support/app.ts'
import { partner, pathsOf } from '../../test/support/partner.ts'
import { requestSkill } from '../catalogue/skill-requests.ts'

test('the fields of a mandate', async (t) => {
  const app = await startApp(t)
  const { context, given, clock } = app
  const { post, get, scope } = await partner(app)
  const { workflow_id } = await given.workflow(scope)
  const send = (change: object) => post('/mandates', { ...aMandate(workflow_id), ...change })
  const accepted = async (change: object) => {
    const answer = await send(change)
    assert.equal(answer.status, 202, JSON.stringify([change, answer.body]).slice(0, 500))
    return (await get(`/mandates/${answer.body.data.mandate_id}`)).body.data
  }
  const refused = async (change: object, ...paths: string[]) => {
    const answer = await send(change)
    assert.deepEqual(
      [answer.status, answer.body.error?.code],
      [400, 'VALIDATION_FAILED'],
      JSON.stringify([change, answer.body]).slice(0, 500),
    )
    assert.deepEqual(pathsOf(answer), paths, JSON.stringify(change).slice(0, 300))
    return answer
  }
  const exceeds = async (change: object, ...paths: string[]) => {
    const answer = await send(change)
    assert.deepEqual([answer.status, answer.body.error?.code], [422, 'LIMIT_EXCEEDED'], JSON.stringify(answer.body))
    assert.deepEqual(
      answer.body.error.details.map(({ path }: any) => path),
      paths,
    )
  }
  const skills = context.catalogue.current.skills
  const verifiable = skills.filter((skill) => skill.verifiable).map(({ number }) => `sk_${number}`)
  const other = skills.find((skill) => !skill.verifiable)!
  const some = (count: number, verify = false) => verifiable.slice(0, count).map((skill_id) => ({ skill_id, verify }))
  const question = (key: string, more: object = {}) => ({ key, type: 'yes_no', text: 'Can you travel?', ...more })
  const ask = (count: number) => Array.from({ length: count }, (_, index) => question(`q${index}`))

  await t.test('texts: lengths in code points, none of white space alone', async () => {
    for (const [name, most] of [
      ['title', 200],
      ['company_name', 200],
    ] as const) {
      assert.equal((await accepted({ [name]: '😀'.repeat(most) }))[name], '😀'.repeat(most))
      assert.equal((await accepted({ [name]: ' x' }))[name], ' x', 'nothing is trimmed')
      for (const bad of ['', ' \t\n', 'x'.repeat(most + 1), 'a\0b', 'half \ud83d', 5, null, undefined])
        await refused({ [name]: bad }, name)
    }
    for (const [name, most] of [
      ['description', 1500],
      ['shift', 100],
      ['employment_type', 100],
    ] as const) {
      assert.equal((await accepted({ [name]: 'ह'.repeat(most) }))[name], 'ह'.repeat(most))
      assert.equal((await accepted({ [name]: '' }))[name], '')
      await refused({ [name]: 'x'.repeat(most + 1) }, name)
      assert.equal(name in (await accepted({ [name]: undefined })), false, 'unset fields are absent')
    }
  })

  await t.test('place', async () => {
    const stored = await accepted({ location: { city: 'x'.repeat(100), state: 's'.repeat(100), pincode: '000000' } })
    assert.deepEqual([stored.location_type, stored.location.city.length], ['india', 100])
    assert.deepEqual((await accepted({ location: { city: 'Pune' } })).location, { city: 'Pune' })
    await accepted({ location: undefined })
    await refused({ location: {} }, 'location.city')
    await refused({ location: { city: '' } }, 'location.city')
    await refused({ location: { city: 'x'.repeat(101) } }, 'location.city')
    await refused({ location: { city: 'P', state: 'x'.repeat(101) } }, 'location.state')
    for (const pincode of ['12345', '1234567', '12345a', '१२३४५६', ' 12345', 411001])
      await refused({ location: { city: 'P', pincode } }, 'location.pincode')
    await refused({ location: { city: 'P', street: 'M' } }, 'location.street')
    await refused({ location_type: 'moon' }, 'location_type')

    const abroad = { location_type: 'abroad', location: undefined }
    const gone = await accepted({ ...abroad, countries: ['sa', 'AE', 'qa'] })
    assert.deepEqual([gone.countries, gone.location_type], [['AE', 'QA', 'SA'], 'abroad'])
    await accepted({ ...abroad, countries: Array(20).fill('AE') })
    await refused({ ...abroad, countries: Array(21).fill('AE') }, 'countries')
    await refused({ ...abroad, countries: [] }, 'countries')
    await refused({ ...abroad, countries: ['ARE', 'A', 'É1'] }, 'countries[0]', 'countries[1]', 'countries[2]')
    await refused({ ...abroad, countries: ['ZZ', 'AE', 'in', 'XK'] }, 'countries[0]', 'countries[2]', 'countries[3]')
    await refused({ countries: ['AE'] }, 'countries')
    await refused({ ...abroad }, 'countries')
    await refused({ location_type: 'abroad', location: { city: 'Pune' }, countries: ['AE'] }, 'location')
  })

  await t.test('numbers', async () => {
    for (const openings of [1, 100_000]) assert.equal((await accepted({ openings })).openings, openings)
    for (const openings of [0, 100_001, 1.5, '5', -1]) await refused({ openings }, 'openings')
    const years = (min_years: unknown, max_years: unknown) => ({ experience: { min_years, max_years } })
    await accepted(years(0, 50))
    await accepted(years(50, 50))
    await refused(years(-1, 51), 'experience.min_years', 'experience.max_years')
    await refused(years(1.5, 3), 'experience.min_years')
    await refused(years(4, 3), 'experience.min_years')
    await refused({ experience: { min_years: 1 } }, 'experience.max_years')
    await refused({ experience: { min_years: 1, max_years: 2, months: 3 } }, 'experience.months')
    const pay = (min: unknown, max: unknown, more = {}) => ({ salary: { min, max, ...more } })
    const { salary } = await accepted(pay(0, 100_000_000))
    assert.deepEqual(salary, { min: 0, max: 100_000_000, currency: 'INR', period: 'month' })
    await accepted(pay(0.5, 0.5, { currency: 'INR', period: 'month' }))
    await refused(pay(-0.01, 100_000_000.01), 'salary.min', 'salary.max')
    await refused(pay(2, 1), 'salary.min')
    await refused(
      pay(1, 2, { currency: 'USD', period: 'year', bonus: 1 }),
      'salary.bonus',
      'salary.currency',
      'salary.period',
    )
  })

  await t.test('owner and interest', async () => {
    const owner = { external_user_id: 'x'.repeat(128), name: 'n'.repeat(200) }
    assert.deepEqual((await accepted({ owner })).owner, owner)
    await refused({ owner: {} }, 'owner.external_user_id')
    await refused({ owner: { external_user_id: '' } }, 'owner.external_user_id')
    await refused({ owner: { external_user_id: 'x'.repeat(129) } }, 'owner.external_user_id')
    await refused({ owner: { external_user_id: 'x', name: 'x'.repeat(201) } }, 'owner.name')
    await refused({ owner: { external_user_id: 'x', mail: 'x' } }, 'owner.mail')
    const behalf = await post('/mandates', aMandate(workflow_id), { onBehalfOf: 'asha@acme' })
    const stored = (await get(`/mandates/${behalf.body.data.mandate_id}`)).body.data
    assert.deepEqual(stored.owner, { external_user_id: 'asha@acme' })
    const named = await post('/mandates', { ...aMandate(workflow_id), owner }, { onBehalfOf: 'asha@acme' })
    assert.deepEqual((await get(`/mandates/${named.body.data.mandate_id}`)).body.data.owner, owner)

    const interest_collection = { other_roles: Array(10).fill('r'.repeat(100)) }
    assert.deepEqual((await accepted({ interest_collection })).interest_collection, interest_collection)
    assert.deepEqual((await accepted({ interest_collection: {} })).interest_collection, {})
    await refused({ interest_collection: { other_roles: Array(11).fill('r') } }, 'interest_collection.other_roles')
    const roles = { other_roles: ['', 'r'.repeat(101), 3] }
    const at = (index: number) => `interest_collection.other_roles[${index}]`
    await refused({ interest_collection: roles }, at(0), at(1), at(2))
    await refused({ interest_collection: { prompt: 'x' } }, 'interest_collection.prompt')
  })

  await t.test('methods', async () => {
    const shuffled = ['interest_collection', 'skill_verification', 'data_enrichment']
    assert.deepEqual((await accepted({ methods: shuffled })).methods, shuffled.toReversed())
    assert.deepEqual((await accepted({ methods: ['interest_collection'] })).methods, ['interest_collection'])
    for (const methods of [[], ['data_enrichment', 'data_enrichment'], 'data_enrichment'])
      await refused({ methods }, 'methods')
    await refused({ methods: ['skill_verification', 'x'] }, 'methods[1]')
    const short = await given.workflow(scope, { default_methods: ['interest_collection'] })
    assert.deepEqual((await accepted({ workflow_id: short.workflow_id })).methods, ['interest_collection'])
  })

  await t.test('skills', async () => {
    assert.deepEqual((await accepted({ skills: [{ skill_id: 'sk_2001' }] })).skills, [
      { skill_id: 'sk_2001', verify: false },
    ])
    await refused({ skills: undefined }, 'skills')
    await refused({ skills: [] }, 'skills')
    await refused({ skills: Array(51).fill({ skill_id: 'sk_2001' }) }, 'skills')
    await refused({ skills: [{ skill_id: 'sk_' }] }, 'skills[0].skill_id')
    await refused({ skills: [{ skill_id: 'sk_1234567890' }, {}] }, 'skills[0].skill_id', 'skills[1].skill_id')
    await refused({ skills: [{ skill_id: 'sk_2001', verify: 'yes' }] }, 'skills[0].verify')
    await refused({ skills: [{ skill_id: 'sk_2001', level: 1 }] }, 'skills[0].level')
    await refused({ skills: ['sk_2001'] }, 'skills[0]')
    await refused(
      { skills: [{ skill_id: 'sk_999999999' }, { skill_id: 'sk_0' }] },
      'skills[0].skill_id',
      'skills[1].skill_id',
    )
    await refused({ skills: [...some(3), ...some(2)] }, 'skills[3].skill_id', 'skills[4].skill_id')
    await refused({ skills: [{ skill_id: `sk_${other.number}`, verify: true }] }, 'skills[0].verify')
    await accepted({ skills: [{ skill_id: `sk_${other.number}`, verify: false }] })
    await accepted({ skills: [...some(3, true), ...verifiable.slice(3, 10).map((skill_id) => ({ skill_id }))] })
    await exceeds({ skills: some(11) }, 'skills')
    await exceeds({ skills: some(4, true) }, 'skills')
  })

  await t.test('pending skills', async () => {
    const pending = (name: unknown, more: object = {}) => ({ skills: [{ name, pending: true, ...more }] })
    const name = 'Dhokra casting'
    await refused(pending(name), 'skills[0].name')
    await context.db.transaction((tx) => requestSkill(tx, scope, clock, { name }))
    const stored = await accepted(pending(' dhokra  CASTING'))
    assert.deepEqual(stored.skills, [{ name: ' dhokra  CASTING', pending: true }])
    assert.ok(stored.warnings.some((warning: string) => /pending/i.test(warning)))
    await refused(
      {
        skills: [
          { name, pending: true },
          { name: 'DHOKRA casting', pending: true },
        ],
      },
      'skills[1].name',
    )
    for (const bad of ['x', 'x'.repeat(121), '  ', 5]) await refused(pending(bad), 'skills[0].name')
    await refused(pending(name, { verify: true }), 'skills[0].verify')
    await refused(pending(name, { pending: false }), 'skills[0].pending')
    await refused({ skills: [{ name }] }, 'skills[0].pending')
    const elsewhere = await partner(app)
    const own = await given.workflow(elsewhere.scope)
    const answer = await elsewhere.post('/mandates', { ...aMandate(own.workflow_id), ...pending(name) })
    assert.deepEqual(pathsOf(answer), ['skills[0].name'], 'another organisation has not asked for it')
  })

  await t.test('enrichment questions', async () => {
    const asked = (...enrichment_questions: object[]) => ({ enrichment_questions })
    const { enrichment_questions } = await accepted(
      asked(question('a'), question('b', { knockout: 'yes', required: false })),
    )
    assert.deepEqual(enrichment_questions, [
      { key: 'a', type: 'yes_no', text: 'Can you travel?', required: true },
      { key: 'b', type: 'yes_no', text: 'Can you travel?', knockout: 'yes', required: false },
    ])
    await accepted(asked(question('k'.repeat(64), { text: '😀'.repeat(200) }), question('._-9')))
    for (const key of ['', 'k'.repeat(65), 'a b', 'é'])
      await refused(asked(question(key)), 'enrichment_questions[0].key')
    for (const text of ['', ' ', 'x'.repeat(201)])
      await refused(asked(question('a', { text })), 'enrichment_questions[0].text')
    await refused(asked(question('a', { type: 'choice' })), 'enrichment_questions[0].type')
    await refused(asked(question('a', { knockout: 'maybe' })), 'enrichment_questions[0].knockout')
    await refused(asked(question('a', { required: 1 })), 'enrichment_questions[0].required')
    await refused(asked(question('a', { hint: '' })), 'enrichment_questions[0].hint')
    await refused(
      asked({}),
      'enrichment_questions[0].key',
      'enrichment_questions[0].type',
      'enrichment_questions[0].text',
    )
    await refused(asked(question('a'), question('a')), 'enrichment_questions[1].key')
    await refused(asked(question('a', { type: 'voice', knockout: 'no' })), 'enrichment_questions[0].knockout')
    await refused(asked(...ask(51)), 'enrichment_questions')

    await accepted(asked(...ask(5)))
    await exceeds(asked(...ask(6)), 'enrichment_questions')
    const alone = { methods: ['data_enrichment'] }
    await accepted({ ...alone, ...asked(...ask(10)) })
    await exceeds({ ...alone, ...asked(...ask(11)) }, 'enrichment_questions')
    for (const none of [asked(), { enrichment_questions: undefined }])
      await refused({ ...alone, ...none }, 'enrichment_questions')
    const asking = await given.workflow(scope, { default_methods: ['data_enrichment'] })
    await accepted({ workflow_id: asking.workflow_id, ...asked(...ask(10)) })
    await refused({ workflow_id: asking.workflow_id, ...asked() }, 'enrichment_questions')
    await exceeds(
      { workflow_id: asking.workflow_id, methods: ['data_enrichment', 'interest_collection'], ...asked(...ask(6)) },
      'enrichment_questions',
    )
  })

  await t.test('job_id', async () => {
    const job_id = 'A-z.0:_'.padEnd(128, 'x')
    assert.equal((await accepted({ job_id })).job_id, job_id)
    for (const bad of ['', 'x'.repeat(129), 'a b', 'ü', 5, null]) await refused({ job_id: bad }, 'job_id')
  })

  await t.test('unknown properties, and everything that is wrong with the schema, at once', async () => {
    const salary = { min: 'a', max: 1, bonus: 2 }
    const answer = await send({ colour: 'red', title: '', skills: [{ skill_id: 'x' }], salary })
    assert.deepEqual(pathsOf(answer).sort(), ['colour', 'salary.bonus', 'salary.min', 'skills[0].skill_id', 'title'])
    const none = await post('/mandates', {})
    assert.deepEqual(pathsOf(none).sort(), ['company_name', 'skills', 'title', 'workflow_id'])
    assert.deepEqual(pathsOf(await post('/mandates', undefined)), ['body'])
    assert.deepEqual(pathsOf(await post('/mandates', [])), ['body'])
  })

  await t.test('all cross-field rules at once', async () => {
    await refused(
      {
        location_type: 'abroad',
        location: { city: 'Pune' },
        countries: ['AE', 'in', 'zz'],
        experience: { min_years: 5, max_years: 1 },
        salary: { min: 5, max: 1 },
        skills: [
          { skill_id: 'sk_999999999' },
          ...some(1),
          ...some(1),
          { skill_id: `sk_${other.number}`, verify: true },
          { name: 'Nobody asked', pending: true },
        ],
        enrichment_questions: [question('a', { type: 'voice', knockout: 'no' }), question('a')],
      },
      'location',
      'countries[1]',
      'countries[2]',
      'experience.min_years',
      'salary.min',
      'skills[0].skill_id',
      'skills[2].skill_id',
      'skills[3].verify',
      'skills[4].name',
      'enrichment_questions[0].knockout',
      'enrichment_questions[1].key',
    )
  })

  await t.test('limits come before cross-field rules, and are told all at once', async () => {
    await exceeds(
      { skills: [...some(11, true), ...some(1)], enrichment_questions: [...ask(6), question('q0')], countries: ['IN'] },
      'skills',
      'skills',
      'enrichment_questions',
    )
    const unknown = 'WF_BC_01ARZ3NDEKTSV4RRFFQ69G5FAV'
    await refused({ workflow_id: unknown, skills: some(11) }, 'workflow_id')
    const foreign = await given.workflow((await partner(app)).scope)
    await refused({ workflow_id: foreign.workflow_id }, 'workflow_id')
    const test = await given.workflow({ ...scope, mode: 'test' })
    await refused({ workflow_id: test.workflow_id }, 'workflow_id')
    await refused({ workflow_id: 'WF_1' }, 'workflow_id')
  })

  await t.test('warnings', async () => {
    const warned = async (change: object) => (await accepted(change)).warnings as string[]
    assert.deepEqual(await warned({}), [])
    const one = async (change: object, shape: RegExp) => {
      const warnings = await warned(change)
      assert.equal(warnings.length, 1, JSON.stringify(warnings))
      assert.match(warnings[0]!, shape)
    }
    await one(
      { skills: some(4, false).map((skill, index) => ({ ...skill, verify: index === 0 })) },
      /fewer than 5 skills/,
    )
    await one({ skills: some(5) }, /skill_verification is in force/)
    await one({ enrichment_questions: [] }, /data_enrichment is in force/)
    await one({ shift: 'graveyard' }, /shift/)
    await one({ employment_type: 'Full time' }, /employment_type/)
    assert.deepEqual(await warned({ shift: 'night', employment_type: 'full_time' }), [])
    const abroad = { location_type: 'abroad', location: undefined }
    await one({ ...abroad, countries: Array(11).fill('AE') }, /countries/)
    assert.deepEqual(await warned({ ...abroad, countries: Array(10).fill('AE') }), [])
    assert.deepEqual(
      await warned({ methods: ['interest_collection'], enrichment_questions: undefined, skills: some(5) }),
      [],
    )
    const hindi = await given.workflow(scope, { languages: ['hi', 'ta'] })
    const [text, items, ...rest] = await warned({ workflow_id: hindi.workflow_id })
    assert.match(text!, /Enrichment questions stay in English.*Hindi, Tamil/)
    assert.match(items!, /skill question.*Tamil/)
    assert.deepEqual(rest, [])
  })
})
