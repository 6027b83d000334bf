import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aMandate, startApp } from '../../test/support/app.ts'
import { oncePerFile } from '../../test/support/cleanup.ts'
import { createPartner, errorPaths } from '../../test/support/partners.ts'
import { requestSkill } from '../catalogue/skill-requests.ts'

const startSharedApp = oncePerFile((t) => startApp(t))

async function setUp() {
  const app = await startSharedApp()
  const { context, fixtures, clock } = app
  const { post, get, scope } = await createPartner(app)
  const { workflow_id } = await fixtures.createWorkflow(scope)
  const createMandate = (change: object) => post('/mandates', { ...aMandate(workflow_id), ...change })
  const createAndGet = async (change: object) => {
    const response = await createMandate(change)
    assert.equal(response.status, 202, JSON.stringify([change, response.body]).slice(0, 500))
    return (await get(`/mandates/${response.body.data.mandate_id}`)).body.data
  }
  const assertRejected = async (change: object, ...paths: string[]) => {
    const response = await createMandate(change)
    assert.deepEqual(
      [response.status, response.body.error?.code],
      [400, 'VALIDATION_FAILED'],
      JSON.stringify([change, response.body]).slice(0, 500),
    )
    assert.deepEqual(errorPaths(response), paths, JSON.stringify(change).slice(0, 300))
    return response
  }
  const assertLimitExceeded = async (change: object, ...paths: string[]) => {
    const response = await createMandate(change)
    assert.deepEqual(
      [response.status, response.body.error?.code],
      [422, 'LIMIT_EXCEEDED'],
      JSON.stringify(response.body),
    )
    assert.deepEqual(
      response.body.error.details.map(({ path }: any) => path),
      paths,
    )
  }
  const skills = context.catalogue.current.skills
  const verifiableSkillIds = skills.filter((skill) => skill.verifiable).map(({ number }) => `sk_${number}`)
  const unverifiableSkill = skills.find((skill) => !skill.verifiable)!
  const takeSkills = (count: number, verify = false) =>
    verifiableSkillIds.slice(0, count).map((skill_id) => ({ skill_id, verify }))
  const question = (key: string, overrides: object = {}) => ({
    key,
    type: 'yes_no',
    text: 'Can you travel?',
    ...overrides,
  })
  const questions = (count: number) => Array.from({ length: count }, (_, index) => question(`q${index}`))
  return {
    app,
    context,
    fixtures,
    clock,
    post,
    get,
    scope,
    workflow_id,
    createMandate,
    createAndGet,
    assertRejected,
    assertLimitExceeded,
    verifiableSkillIds,
    unverifiableSkill,
    takeSkills,
    question,
    questions,
  }
}

test('text lengths count code points, and blank texts are rejected', async () => {
  const { createAndGet, assertRejected } = await setUp()
  for (const [name, maxLength] of [
    ['title', 200],
    ['company_name', 200],
  ] as const) {
    assert.equal((await createAndGet({ [name]: '😀'.repeat(maxLength) }))[name], '😀'.repeat(maxLength))
    assert.equal((await createAndGet({ [name]: ' x' }))[name], ' x', 'nothing is trimmed')
    for (const invalidText of ['', ' \t\n', 'x'.repeat(maxLength + 1), 'a\0b', 'half \ud83d', 5, null, undefined])
      await assertRejected({ [name]: invalidText }, name)
  }
  for (const [name, maxLength] of [
    ['description', 1500],
    ['shift', 100],
    ['employment_type', 100],
  ] as const) {
    assert.equal((await createAndGet({ [name]: 'ह'.repeat(maxLength) }))[name], 'ह'.repeat(maxLength))
    assert.equal((await createAndGet({ [name]: '' }))[name], '')
    await assertRejected({ [name]: 'x'.repeat(maxLength + 1) }, name)
    assert.equal(name in (await createAndGet({ [name]: undefined })), false, 'unset fields are absent')
  }
})

test('location and countries are validated', async () => {
  const { createAndGet, assertRejected } = await setUp()
  const storedMandate = await createAndGet({
    location: { city: 'x'.repeat(100), state: 's'.repeat(100), pincode: '000000' },
  })
  assert.deepEqual([storedMandate.location_type, storedMandate.location.city.length], ['india', 100])
  assert.deepEqual((await createAndGet({ location: { city: 'Pune' } })).location, { city: 'Pune' })
  await createAndGet({ location: undefined })
  await assertRejected({ location: {} }, 'location.city')
  await assertRejected({ location: { city: '' } }, 'location.city')
  await assertRejected({ location: { city: 'x'.repeat(101) } }, 'location.city')
  await assertRejected({ location: { city: 'P', state: 'x'.repeat(101) } }, 'location.state')
  for (const pincode of ['12345', '1234567', '12345a', '१२३४५६', ' 12345', 411001])
    await assertRejected({ location: { city: 'P', pincode } }, 'location.pincode')
  await assertRejected({ location: { city: 'P', street: 'M' } }, 'location.street')
  await assertRejected({ location_type: 'moon' }, 'location_type')

  const abroad = { location_type: 'abroad', location: undefined }
  const storedAbroad = await createAndGet({ ...abroad, countries: ['sa', 'AE', 'qa'] })
  assert.deepEqual([storedAbroad.countries, storedAbroad.location_type], [['AE', 'QA', 'SA'], 'abroad'])
  await createAndGet({ ...abroad, countries: Array(20).fill('AE') })
  await assertRejected({ ...abroad, countries: Array(21).fill('AE') }, 'countries')
  await assertRejected({ ...abroad, countries: [] }, 'countries')
  await assertRejected({ ...abroad, countries: ['ARE', 'A', 'É1'] }, 'countries[0]', 'countries[1]', 'countries[2]')
  await assertRejected(
    { ...abroad, countries: ['ZZ', 'AE', 'in', 'XK'] },
    'countries[0]',
    'countries[2]',
    'countries[3]',
  )
  await assertRejected({ countries: ['AE'] }, 'countries')
  await assertRejected({ ...abroad }, 'countries')
  await assertRejected({ location_type: 'abroad', location: { city: 'Pune' }, countries: ['AE'] }, 'location')
})

test('numeric fields are validated', async () => {
  const { createAndGet, assertRejected } = await setUp()
  for (const openings of [1, 100_000]) assert.equal((await createAndGet({ openings })).openings, openings)
  for (const openings of [0, 100_001, 1.5, '5', -1]) await assertRejected({ openings }, 'openings')
  const withExperience = (min_years: unknown, max_years: unknown) => ({ experience: { min_years, max_years } })
  await createAndGet(withExperience(0, 50))
  await createAndGet(withExperience(50, 50))
  await assertRejected(withExperience(-1, 51), 'experience.min_years', 'experience.max_years')
  await assertRejected(withExperience(1.5, 3), 'experience.min_years')
  await assertRejected(withExperience(4, 3), 'experience.min_years')
  await assertRejected({ experience: { min_years: 1 } }, 'experience.max_years')
  await assertRejected({ experience: { min_years: 1, max_years: 2, months: 3 } }, 'experience.months')
  const withSalary = (min: unknown, max: unknown, overrides = {}) => ({ salary: { min, max, ...overrides } })
  const { salary } = await createAndGet(withSalary(0, 100_000_000))
  assert.deepEqual(salary, { min: 0, max: 100_000_000, currency: 'INR', period: 'month' })
  await createAndGet(withSalary(0.5, 0.5, { currency: 'INR', period: 'month' }))
  await assertRejected(withSalary(-0.01, 100_000_000.01), 'salary.min', 'salary.max')
  await assertRejected(withSalary(2, 1), 'salary.min')
  await assertRejected(
    withSalary(1, 2, { currency: 'USD', period: 'year', bonus: 1 }),
    'salary.bonus',
    'salary.currency',
    'salary.period',
  )
})

test('owner and interest are validated, and the owner defaults to x-on-behalf-of', async () => {
  const { post, get, workflow_id, createAndGet, assertRejected } = await setUp()
  const owner = { external_user_id: 'x'.repeat(128), name: 'n'.repeat(200) }
  assert.deepEqual((await createAndGet({ owner })).owner, owner)
  await assertRejected({ owner: {} }, 'owner.external_user_id')
  await assertRejected({ owner: { external_user_id: '' } }, 'owner.external_user_id')
  await assertRejected({ owner: { external_user_id: 'x'.repeat(129) } }, 'owner.external_user_id')
  await assertRejected({ owner: { external_user_id: 'x', name: 'x'.repeat(201) } }, 'owner.name')
  await assertRejected({ owner: { external_user_id: 'x', mail: 'x' } }, 'owner.mail')
  const onBehalfResponse = await post('/mandates', aMandate(workflow_id), { onBehalfOf: 'asha@acme' })
  const storedMandate = (await get(`/mandates/${onBehalfResponse.body.data.mandate_id}`)).body.data
  assert.deepEqual(storedMandate.owner, { external_user_id: 'asha@acme' })
  const namedOwnerResponse = await post('/mandates', { ...aMandate(workflow_id), owner }, { onBehalfOf: 'asha@acme' })
  assert.deepEqual((await get(`/mandates/${namedOwnerResponse.body.data.mandate_id}`)).body.data.owner, owner)

  const interest_collection = { other_roles: Array(10).fill('r'.repeat(100)) }
  assert.deepEqual((await createAndGet({ interest_collection })).interest_collection, interest_collection)
  assert.deepEqual((await createAndGet({ interest_collection: {} })).interest_collection, {})
  await assertRejected({ interest_collection: { other_roles: Array(11).fill('r') } }, 'interest_collection.other_roles')
  const roles = { other_roles: ['', 'r'.repeat(101), 3] }
  const rolePath = (index: number) => `interest_collection.other_roles[${index}]`
  await assertRejected({ interest_collection: roles }, rolePath(0), rolePath(1), rolePath(2))
  await assertRejected({ interest_collection: { prompt: 'x' } }, 'interest_collection.prompt')
})

test('methods are sorted, and default to those of the workflow', async () => {
  const { fixtures, scope, createAndGet, assertRejected } = await setUp()
  const shuffled = ['interest_collection', 'skill_verification', 'data_enrichment']
  assert.deepEqual((await createAndGet({ methods: shuffled })).methods, shuffled.toReversed())
  assert.deepEqual((await createAndGet({ methods: ['interest_collection'] })).methods, ['interest_collection'])
  for (const methods of [[], ['data_enrichment', 'data_enrichment'], 'data_enrichment'])
    await assertRejected({ methods }, 'methods')
  await assertRejected({ methods: ['skill_verification', 'x'] }, 'methods[1]')
  const interestWorkflow = await fixtures.createWorkflow(scope, { default_methods: ['interest_collection'] })
  assert.deepEqual((await createAndGet({ workflow_id: interestWorkflow.workflow_id })).methods, ['interest_collection'])
})

test('skills are validated against the catalogue and the limits', async () => {
  const { createAndGet, assertRejected, assertLimitExceeded, verifiableSkillIds, unverifiableSkill, takeSkills } =
    await setUp()
  assert.deepEqual((await createAndGet({ skills: [{ skill_id: 'sk_2001' }] })).skills, [
    { skill_id: 'sk_2001', verify: false },
  ])
  await assertRejected({ skills: undefined }, 'skills')
  await assertRejected({ skills: [] }, 'skills')
  await assertRejected({ skills: Array(51).fill({ skill_id: 'sk_2001' }) }, 'skills')
  await assertRejected({ skills: [{ skill_id: 'sk_' }] }, 'skills[0].skill_id')
  await assertRejected({ skills: [{ skill_id: 'sk_1234567890' }, {}] }, 'skills[0].skill_id', 'skills[1].skill_id')
  await assertRejected({ skills: [{ skill_id: 'sk_2001', verify: 'yes' }] }, 'skills[0].verify')
  await assertRejected({ skills: [{ skill_id: 'sk_2001', level: 1 }] }, 'skills[0].level')
  await assertRejected({ skills: ['sk_2001'] }, 'skills[0]')
  await assertRejected(
    { skills: [{ skill_id: 'sk_999999999' }, { skill_id: 'sk_0' }] },
    'skills[0].skill_id',
    'skills[1].skill_id',
  )
  await assertRejected({ skills: [...takeSkills(3), ...takeSkills(2)] }, 'skills[3].skill_id', 'skills[4].skill_id')
  await assertRejected({ skills: [{ skill_id: `sk_${unverifiableSkill.number}`, verify: true }] }, 'skills[0].verify')
  await createAndGet({ skills: [{ skill_id: `sk_${unverifiableSkill.number}`, verify: false }] })
  await createAndGet({
    skills: [...takeSkills(3, true), ...verifiableSkillIds.slice(3, 10).map((skill_id) => ({ skill_id }))],
  })
  await assertLimitExceeded({ skills: takeSkills(11) }, 'skills')
  await assertLimitExceeded({ skills: takeSkills(4, true) }, 'skills')
})

test('a pending skill needs a skill request of the organisation', async () => {
  const { app, context, fixtures, clock, scope, createAndGet, assertRejected } = await setUp()
  const withPendingSkill = (name: unknown, overrides: object = {}) => ({
    skills: [{ name, pending: true, ...overrides }],
  })
  const name = 'Dhokra casting'
  await assertRejected(withPendingSkill(name), 'skills[0].name')
  await context.db.transaction((tx) => requestSkill(tx, scope, clock, { name }))
  const storedMandate = await createAndGet(withPendingSkill(' dhokra  CASTING'))
  assert.deepEqual(storedMandate.skills, [{ name: ' dhokra  CASTING', pending: true }])
  assert.ok(storedMandate.warnings.some((warning: string) => /pending/i.test(warning)))
  await assertRejected(
    {
      skills: [
        { name, pending: true },
        { name: 'DHOKRA casting', pending: true },
      ],
    },
    'skills[1].name',
  )
  for (const bad of ['x', 'x'.repeat(121), '  ', 5]) await assertRejected(withPendingSkill(bad), 'skills[0].name')
  await assertRejected(withPendingSkill(name, { verify: true }), 'skills[0].verify')
  await assertRejected(withPendingSkill(name, { pending: false }), 'skills[0].pending')
  await assertRejected({ skills: [{ name }] }, 'skills[0].pending')
  const otherPartner = await createPartner(app)
  const otherWorkflow = await fixtures.createWorkflow(otherPartner.scope)
  const response = await otherPartner.post('/mandates', {
    ...aMandate(otherWorkflow.workflow_id),
    ...withPendingSkill(name),
  })
  assert.deepEqual(errorPaths(response), ['skills[0].name'], 'another organisation has not requested the skill')
})

test('enrichment questions are validated, with a higher limit if enrichment is the only method', async () => {
  const { fixtures, scope, createAndGet, assertRejected, assertLimitExceeded, question, questions } = await setUp()
  const withQuestions = (...enrichment_questions: object[]) => ({ enrichment_questions })
  const { enrichment_questions } = await createAndGet(
    withQuestions(question('a'), question('b', { knockout: 'yes', required: false })),
  )
  assert.deepEqual(enrichment_questions, [
    { key: 'a', type: 'yes_no', text: 'Can you travel?', required: true },
    { key: 'b', type: 'yes_no', text: 'Can you travel?', knockout: 'yes', required: false },
  ])
  await createAndGet(withQuestions(question('k'.repeat(64), { text: '😀'.repeat(200) }), question('._-9')))
  for (const key of ['', 'k'.repeat(65), 'a b', 'é'])
    await assertRejected(withQuestions(question(key)), 'enrichment_questions[0].key')
  for (const text of ['', ' ', 'x'.repeat(201)])
    await assertRejected(withQuestions(question('a', { text })), 'enrichment_questions[0].text')
  await assertRejected(withQuestions(question('a', { type: 'choice' })), 'enrichment_questions[0].type')
  await assertRejected(withQuestions(question('a', { knockout: 'maybe' })), 'enrichment_questions[0].knockout')
  await assertRejected(withQuestions(question('a', { required: 1 })), 'enrichment_questions[0].required')
  await assertRejected(withQuestions(question('a', { hint: '' })), 'enrichment_questions[0].hint')
  await assertRejected(
    withQuestions({}),
    'enrichment_questions[0].key',
    'enrichment_questions[0].type',
    'enrichment_questions[0].text',
  )
  await assertRejected(withQuestions(question('a'), question('a')), 'enrichment_questions[1].key')
  await assertRejected(
    withQuestions(question('a', { type: 'voice', knockout: 'no' })),
    'enrichment_questions[0].knockout',
  )
  await assertRejected(withQuestions(...questions(51)), 'enrichment_questions')

  await createAndGet(withQuestions(...questions(5)))
  await assertLimitExceeded(withQuestions(...questions(6)), 'enrichment_questions')
  const onlyEnrichment = { methods: ['data_enrichment'] }
  await createAndGet({ ...onlyEnrichment, ...withQuestions(...questions(10)) })
  await assertLimitExceeded({ ...onlyEnrichment, ...withQuestions(...questions(11)) }, 'enrichment_questions')
  for (const withoutQuestions of [withQuestions(), { enrichment_questions: undefined }])
    await assertRejected({ ...onlyEnrichment, ...withoutQuestions }, 'enrichment_questions')
  const enrichmentWorkflow = await fixtures.createWorkflow(scope, { default_methods: ['data_enrichment'] })
  await createAndGet({ workflow_id: enrichmentWorkflow.workflow_id, ...withQuestions(...questions(10)) })
  await assertRejected({ workflow_id: enrichmentWorkflow.workflow_id, ...withQuestions() }, 'enrichment_questions')
  await assertLimitExceeded(
    {
      workflow_id: enrichmentWorkflow.workflow_id,
      methods: ['data_enrichment', 'interest_collection'],
      ...withQuestions(...questions(6)),
    },
    'enrichment_questions',
  )
})

test('job_id is validated', async () => {
  const { createAndGet, assertRejected } = await setUp()
  const job_id = 'A-z.0:_'.padEnd(128, 'x')
  assert.equal((await createAndGet({ job_id })).job_id, job_id)
  for (const bad of ['', 'x'.repeat(129), 'a b', 'ü', 5, null]) await assertRejected({ job_id: bad }, 'job_id')
})

test('unknown properties and all schema violations are reported together', async () => {
  const { post, createMandate } = await setUp()
  const salary = { min: 'a', max: 1, bonus: 2 }
  const response = await createMandate({ colour: 'red', title: '', skills: [{ skill_id: 'x' }], salary })
  assert.deepEqual(errorPaths(response).sort(), ['colour', 'salary.bonus', 'salary.min', 'skills[0].skill_id', 'title'])
  const emptyBodyResponse = await post('/mandates', {})
  assert.deepEqual(errorPaths(emptyBodyResponse).sort(), ['company_name', 'skills', 'title', 'workflow_id'])
  assert.deepEqual(errorPaths(await post('/mandates', undefined)), ['body'])
  assert.deepEqual(errorPaths(await post('/mandates', [])), ['body'])
})

test('all cross-field violations are reported together', async () => {
  const { assertRejected, unverifiableSkill, takeSkills, question } = await setUp()
  await assertRejected(
    {
      location_type: 'abroad',
      location: { city: 'Pune' },
      countries: ['AE', 'in', 'zz'],
      experience: { min_years: 5, max_years: 1 },
      salary: { min: 5, max: 1 },
      skills: [
        { skill_id: 'sk_999999999' },
        ...takeSkills(1),
        ...takeSkills(1),
        { skill_id: `sk_${unverifiableSkill.number}`, verify: true },
        { name: 'Never requested', pending: true },
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

test('exceeded limits are reported together, before cross-field rules', async () => {
  const { app, fixtures, scope, assertRejected, assertLimitExceeded, takeSkills, question, questions } = await setUp()
  await assertLimitExceeded(
    {
      skills: [...takeSkills(11, true), ...takeSkills(1)],
      enrichment_questions: [...questions(6), question('q0')],
      countries: ['IN'],
    },
    'skills',
    'skills',
    'enrichment_questions',
  )
  const unknownWorkflowId = 'WF_BC_01ARZ3NDEKTSV4RRFFQ69G5FAV'
  await assertRejected({ workflow_id: unknownWorkflowId, skills: takeSkills(11) }, 'workflow_id')
  const foreignWorkflow = await fixtures.createWorkflow((await createPartner(app)).scope)
  await assertRejected({ workflow_id: foreignWorkflow.workflow_id }, 'workflow_id')
  const testWorkflow = await fixtures.createWorkflow({ ...scope, mode: 'test' })
  await assertRejected({ workflow_id: testWorkflow.workflow_id }, 'workflow_id')
  await assertRejected({ workflow_id: 'WF_1' }, 'workflow_id')
})

test('questionable input is accepted with warnings', async () => {
  const { context, fixtures, scope, createAndGet, takeSkills } = await setUp()
  const warningsOf = async (change: object) => (await createAndGet(change)).warnings as string[]
  assert.deepEqual(await warningsOf({}), [])
  const assertOneWarning = async (change: object, pattern: RegExp) => {
    const warnings = await warningsOf(change)
    assert.equal(warnings.length, 1, JSON.stringify(warnings))
    assert.match(warnings[0]!, pattern)
  }
  await assertOneWarning(
    { skills: takeSkills(4, false).map((skill, index) => ({ ...skill, verify: index === 0 })) },
    /fewer than 5 skills/,
  )
  await assertOneWarning({ skills: takeSkills(5) }, /skill_verification is enabled/)
  await assertOneWarning({ enrichment_questions: [] }, /data_enrichment is enabled/)
  await assertOneWarning({ shift: 'graveyard' }, /shift/)
  await assertOneWarning({ employment_type: 'Full time' }, /employment_type/)
  assert.deepEqual(await warningsOf({ shift: 'night', employment_type: 'full_time' }), [])
  const abroad = { location_type: 'abroad', location: undefined }
  await assertOneWarning({ ...abroad, countries: Array(11).fill('AE') }, /countries/)
  assert.deepEqual(await warningsOf({ ...abroad, countries: Array(10).fill('AE') }), [])
  assert.deepEqual(
    await warningsOf({ methods: ['interest_collection'], enrichment_questions: undefined, skills: takeSkills(5) }),
    [],
  )
  const hindiWorkflow = await fixtures.createWorkflow(scope, { languages: ['hi', 'ta'] })
  const [enrichmentWarning, skillWarning, ...otherWarnings] = await warningsOf({
    workflow_id: hindiWorkflow.workflow_id,
  })
  assert.match(enrichmentWarning!, /asked in English: licence \(Hindi, Tamil\), notice \(Hindi, Tamil\)\./)
  // House wiring, the third verified skill, has questions in Tamil.
  const bankLanguages = 'in Tamil (the built-in bank has only English, Hindi)'
  const skillNames = [2005, 2020].map((number) => context.catalogue.current.skill(number)!.name)
  assert.equal(
    skillWarning,
    `Some skill questions are not available in every language of the workflow, and are asked in another one: ${skillNames.map((name) => `${name} ${bankLanguages}`).join('; ')}. Import at least 12 questions of your own about each of these skills in all languages of the workflow, or remove the languages from the workflow.`,
  )
  assert.deepEqual(otherWarnings, [])
})
