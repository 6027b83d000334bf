import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApp } from '../support/app.ts'
import { oncePerFile } from '../support/cleanup.ts'
import { createPartner } from '../support/partners.ts'

// Tests the error messages for common mistakes of integrators.

const startShared = oncePerFile((t) => startApp(t))

async function setUp() {
  const app = await startShared()
  const caller = await createPartner(app, 'test')
  const { workflow_id } = (await caller.post('/workflows', { name: 'Site hiring' })).body.data
  const createBody = (change: object) => ({
    workflow_id,
    title: 'Electrician',
    company_name: 'Metro',
    skills: [{ skill_id: 'sk_2001' }],
    ...change,
  })
  const { mandate_id } = await app.fixtures.createMandate(caller.scope, { workflow_id, job_id: 'job-1' })
  return { app, caller, mandate: createBody, mandate_id }
}

test('mistakes in a mandate are explained', async () => {
  const { caller, mandate } = await setUp()
  const cases: [change: object, ...expected: string[]][] = [
    [{ jobId: 'j' }, 'jobId: is not a known property; did you mean job_id?'],
    [{ companyName: 'j' }, 'companyName: is not a known property; did you mean company_name?'],
    [{ constructor: 1 }, 'constructor: is not a known property'],
    [{ status: 'ready' }, 'status: is a response field and cannot be set; leave it out'],
    [{ skills: ['sk_2001'] }, 'skills[0]: must be an object with skill_id; got a string'],
    [
      { skills: [{ skill_id: 'welding' }] },
      'skills[0].skill_id: must be a skill ID such as sk_2001; find it with GET /skills/search',
    ],
    [
      { skills: [{ name: 'Welding' }] },
      'skills[0].pending: is required with a name; to use a skill of the catalogue, send its skill_id, which POST /skills/lookup returns',
    ],
    [
      { skills: [{ skill_id: 'sk_999999' }, { skill_id: 'sk_2001' }, { skill_id: 'sk_2001' }] },
      'skills[0].skill_id: is not in the catalogue; find skill IDs with GET /skills/search',
      'skills[2].skill_id: is the same skill as skills[1]; list it once',
    ],
    [
      { skills: [{ name: 'Kite flying', pending: true }] },
      'skills[0].name: has no open skill request; create one with POST /skill-requests',
    ],
    [{ location: 'Pune' }, 'location: must be an object with city; got a string'],
    [{ countries: ['AE'] }, 'countries: is allowed only with location_type abroad; use location for a job in India'],
    [{ location_type: 'abroad' }, 'countries: is required with location_type abroad; GET /countries lists the codes'],
    [
      { location_type: 'abroad', countries: ['IN', 'XX'], location: { city: 'Pune' } },
      'location: is not allowed with location_type abroad; use countries',
      'countries[0]: must not be India; use location_type india for a job in India',
      'countries[1]: must be an ISO 3166-1 country code; GET /countries lists the codes',
    ],
    [{ salary: { min: 2, max: 1 } }, 'salary.min: must not be greater than max'],
    [{ experience: { min_years: 2, max_years: 1 } }, 'experience.min_years: must not be greater than max_years'],
    [
      {
        enrichment_questions: [
          { key: 'a', type: 'voice', text: 'Why?', knockout: 'no' },
          { key: 'a', type: 'yes_no', text: 'So?' },
        ],
      },
      'enrichment_questions[0].knockout: is allowed only with type yes_no; omit it for voice',
      'enrichment_questions[1].key: is also the key of enrichment_questions[0]; keys must be unique',
    ],
    [
      { workflow_id: 'WF_BC_01M7EP409TQKWXWJNJH5XGBWCN' },
      'workflow_id: is not a workflow of this organisation and mode; find workflow IDs with GET /workflows',
    ],
  ]
  for (const [change, ...expected] of cases) {
    const { status, body } = await caller.post('/mandates', mandate(change))
    assert.deepEqual([status, body.error?.code], [400, 'VALIDATION_FAILED'], JSON.stringify(change))
    const messages = body.error.details.map(({ path, message }: any) => `${path}: ${message}`)
    assert.deepEqual(messages, expected)
    if (expected.length === 1) assert.equal(body.error.message, expected[0]!.replace(/([^?])$/, '$1.'))
  }
})

test('job_id in a replacement is explained', async () => {
  const { caller, mandate, mandate_id } = await setUp()
  const { body } = await caller.put(`/mandates/${mandate_id}`, mandate({ job_id: 'job-1' }))
  assert.deepEqual(body.error.details, [
    {
      path: 'job_id',
      message: 'is set when the mandate is created and cannot be changed; leave it out of a replacement',
    },
  ])
})

test('mistakes in a path or a query are explained', async () => {
  const { app, caller } = await setUp()
  const cases: [path: string, status: number, message: string][] = [
    ['/shifts/', 404, 'Unknown endpoint: GET /api/v1/partner/shifts/. Remove the trailing slash.'],
    ['/mandates/4711', 400, 'path.mandate_id: must be a mandate ID such as JM_01HZX…; got "4711".'],
    ['/mandates?limit=0', 400, 'query.limit: must be at least 1; got 0.'],
    [
      '/results?updated_after=31/01/2026',
      400,
      'query.updated_after: must be an ISO 8601 timestamp with a time zone, such as 2030-01-31T09:00:00Z.',
    ],
    [
      '/analytics/overview?from=31-01-2026',
      400,
      'query.from: must be a date in YYYY-MM-DD format, such as 2026-03-11; got "31-01-2026".',
    ],
  ]
  for (const [path, status, message] of cases) {
    const response = await caller.get(path)
    assert.deepEqual([response.status, response.body.error.message], [status, message])
  }
  const { body } = await caller.get('/skills?limit=1')
  const reusedCursorResponse = await caller.get(`/mandates?cursor=${body.data.next_cursor}`)
  assert.equal(
    reusedCursorResponse.body.error.message,
    'query.cursor: must be a `next_cursor` that this endpoint returned for the same filters.',
  )
  for (const path of ['/api/v1/mandates', '/api/partner/mandates', '/v1/partner/mandates/JM_1', '/mandates']) {
    const { status, body } = await app.fetch(path)
    assert.equal(status, 404)
    assert.equal(
      body.error.message ?? body.error,
      `Unknown endpoint: GET ${path}. Did you mean /api/v1/partner/mandates?`,
    )
  }
  const hints: [method: string, path: string, hint: string][] = [
    ['POST', '/shifts', 'This path has GET.'],
    ['PATCH', '/mandates/JM_1', 'This path has DELETE, GET, PUT. Use PUT, which replaces the whole resource.'],
    ['GET', '/mandate/JM_1', 'Did you mean /api/v1/partner/mandates/JM_1?'],
    ['GET', '/campaigns/CP_1/candidate', 'Did you mean /api/v1/partner/campaigns/CP_1/candidates?'],
  ]
  for (const [method, path, hint] of hints) {
    const { body } = await app.fetch(`/api/v1/partner${path}`, { method })
    assert.equal(body.error.message, `Unknown endpoint: ${method} /api/v1/partner${path}. ${hint}`)
  }
  const unknownPathResponse = await app.fetch('/api/skills/a/b')
  assert.equal(
    unknownPathResponse.body.error,
    'Unknown endpoint: GET /api/skills/a/b. See /docs for the list of endpoints.',
  )
})

test('mistakes in the signature are explained to a TEST key', async () => {
  const { app, caller } = await setUp()
  const getErrorMessage = async (headers: Record<string, string>, body?: object) => {
    const response = await caller.post('/workflows', body, { headers })
    assert.equal(response.status, 401)
    return response.body.error.details.map(({ message }: any) => message.split('\n')[0])
  }
  assert.deepEqual(await getErrorMessage({ 'x-timestamp': String(app.clock.now()) }), [
    'must be Unix time in whole seconds; got milliseconds (divide by 1,000)',
    'The server expected this string to sign:',
  ])
  assert.deepEqual(await getErrorMessage({ 'x-signature': 'abc' }, { name: 'x' }), [
    "Your clock matches the server's.",
    'The signature must be v1= followed by 64 lower-case hex digits. The server expected this string to sign; its last line is the SHA-256 of the request body as received:',
  ])
})

test('an empty text is reported once, and a private webhook address names the setting that allows it', async () => {
  const { caller } = await setUp()
  const { body } = await caller.post('/workflows', { name: '' })
  assert.deepEqual(body.error.details, [{ path: 'name', message: 'must not be blank' }])
  for (const [name, hint] of [
    ['types', 'did you mean event_types?'],
    ['events', 'did you mean event_types?'],
    ['colour', 'expected one of url, '],
  ] as const) {
    const { body } = await caller.post('/webhooks', { url: 'https://example.com/x', [name]: ['result.completed'] })
    const [{ path, message }] = body.error.details
    assert.equal(path, name)
    assert.ok(message.startsWith(`is not a known property; ${hint}`), message)
  }
  const response = await caller.post('/webhooks', { url: 'https://10.0.0.1/x' })
  assert.equal(
    response.body.error.message,
    'url: must not be a private address; the operator can allow it with WEBHOOK_ALLOW.',
  )
})

test('metadata keys, which the caller chooses, are not reported as unknown', async () => {
  const { caller, mandate_id } = await setUp()
  const rows = [{ external_candidate_id: 'c', name: 'A', phone: '+919990000001', metadata: { a: 1 } }]
  const { body } = await caller.post('/campaigns', { mandate_id, candidates: rows }, { idempotencyKey: true })
  assert.deepEqual(body.error.details, [
    { path: 'candidates[0].metadata.a', message: 'must be a string; got a number' },
  ])
})
