import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApp } from '../support/app.ts'
import { partner } from '../support/partner.ts'

/** What engineers get wrong at first, and the sentence that must put them right. */
test('common mistakes are answered with what to do', async (t) => {
  const app = await startApp(t)
  const caller = await partner(app, 'test')
  const { workflow_id } = (await caller.post('/workflows', { name: 'Site hiring' })).body.data
  const mandate = (change: object) => ({
    workflow_id,
    title: 'Electrician',
    company_name: 'Metro',
    skills: [{ skill_id: 'sk_2001' }],
    ...change,
  })
  const { mandate_id } = await app.given.mandate(caller.scope, { workflow_id, job_id: 'job-1' })

  await t.test('in a mandate', async () => {
    const cases: [change: object, ...expected: string[]][] = [
      [{ jobId: 'j' }, 'jobId: is not a known property; did you mean job_id?'],
      [{ companyName: 'j' }, 'companyName: is not a known property; did you mean company_name?'],
      [{ constructor: 1 }, 'constructor: is not a known property'],
      [{ status: 'ready' }, 'status: is part of the answer, not of the body: leave it out'],
      [{ skills: ['sk_2001'] }, 'skills[0]: must be an object with skill_id'],
      [
        { skills: [{ skill_id: 'welding' }] },
        'skills[0].skill_id: must be the id of a skill, such as sk_2001; GET /skills/search finds it',
      ],
      [
        { skills: [{ name: 'Welding' }] },
        'skills[0].pending: is required beside a name; a skill of the catalogue goes by its skill_id, which POST /skills/lookup finds',
      ],
      [
        { skills: [{ skill_id: 'sk_999999' }, { skill_id: 'sk_2001' }, { skill_id: 'sk_2001' }] },
        'skills[0].skill_id: is not a skill of the catalogue; GET /skills/search finds ids',
        'skills[2].skill_id: is the same skill as skills[1]; name it once',
      ],
      [
        { skills: [{ name: 'Kite flying', pending: true }] },
        'skills[0].name: has no open skill request of this name; make one with POST /skill-requests',
      ],
      [{ location: 'Pune' }, 'location: must be an object with city'],
      [{ countries: ['AE'] }, 'countries: goes with location_type abroad only; a job in India has location'],
      [{ location_type: 'abroad' }, 'countries: is required with location_type abroad; GET /countries lists the codes'],
      [
        { location_type: 'abroad', countries: ['IN', 'XX'], location: { city: 'Pune' } },
        'location: does not go with location_type abroad; countries says where the job is',
        'countries[0]: must be another country than India; a job in India has location_type india',
        'countries[1]: is not a country code of ISO 3166-1; GET /countries lists them',
      ],
      [{ salary: { min: 2, max: 1 } }, 'salary.min: must not be more than max'],
      [{ experience: { min_years: 2, max_years: 1 } }, 'experience.min_years: must not be more than max_years'],
      [
        {
          enrichment_questions: [
            { key: 'a', type: 'voice', text: 'Why?', knockout: 'no' },
            { key: 'a', type: 'yes_no', text: 'So?' },
          ],
        },
        'enrichment_questions[0].knockout: goes with type yes_no only; leave it out for voice',
        'enrichment_questions[1].key: is the key of enrichment_questions[0] too; each needs its own',
      ],
      [
        { workflow_id: 'WF_BC_01M7EP409TQKWXWJNJH5XGBWCN' },
        "workflow_id: is not one of the organisation's workflows; GET /workflows lists those of this key's mode",
      ],
    ]
    for (const [change, ...expected] of cases) {
      const { status, body } = await caller.post('/mandates', mandate(change))
      assert.deepEqual([status, body.error?.code], [400, 'VALIDATION_FAILED'], JSON.stringify(change))
      const told = body.error.details.map(({ path, message }: any) => `${path}: ${message}`)
      assert.deepEqual(told, expected)
      if (expected.length === 1) assert.equal(body.error.message, expected[0]!.replace(/([^?])$/, '$1.'))
    }
  })

  await t.test('job_id in a replacement', async () => {
    const { body } = await caller.put(`/mandates/${mandate_id}`, mandate({ job_id: 'job-1' }))
    assert.deepEqual(body.error.details, [
      { path: 'job_id', message: 'is set when the mandate is created and stays: leave it out of a replacement' },
    ])
  })

  await t.test('in a path or a query', async () => {
    const cases: [path: string, status: number, message: string][] = [
      ['/shifts/', 404, 'There is no GET /api/v1/partner/shifts/ here. Paths have no slash at the end.'],
      ['/mandates/4711', 400, 'path.mandate_id: must be an id that begins with JM_, and match ^JM_[A-Z0-9]{10,40}$.'],
      ['/mandates?limit=0', 400, 'query.limit: must be at least 1.'],
      [
        '/results?updated_after=31/01/2026',
        400,
        'query.updated_after: must be ISO 8601 with a time zone, such as 2030-01-31T09:00:00Z.',
      ],
      ['/analytics/overview?from=31-01-2026', 400, 'query.from: must be a day such as 2026-03-11.'],
    ]
    for (const [path, status, message] of cases) {
      const answer = await caller.get(path)
      assert.deepEqual([answer.status, answer.body.error.message], [status, message])
    }
    const { body } = await caller.get('/skills?limit=1')
    const other = await caller.get(`/mandates?cursor=${body.data.next_cursor}`)
    assert.equal(other.body.error.message, 'query.cursor: must be a next_cursor of this list, with the same filters.')
    for (const path of ['/api/v1/mandates', '/api/partner/mandates', '/v1/partner/mandates/JM_1', '/mandates']) {
      const { status, body } = await app.fetch(path)
      assert.equal(status, 404)
      assert.equal(
        body.error.message ?? body.error,
        `There is no GET ${path} here. The partner API has /api/v1/partner/mandates.`,
      )
    }
    const typo = await app.fetch('/api/skills/a/b')
    assert.equal(typo.body.error, 'There is no GET /api/skills/a/b here.', 'the catalogue has skills of its own')
  })

  await t.test('in what is signed, for a TEST key', async () => {
    const told = async (headers: Record<string, string>, body?: object) => {
      const answer = await caller.post('/workflows', body, { headers })
      assert.equal(answer.status, 401)
      return answer.body.error.details.map(({ message }: any) => message.split('\n')[0])
    }
    assert.deepEqual(await told({ 'x-timestamp': String(app.clock.now()) }), [
      'must be Unix time in whole seconds; these are milliseconds: divide by 1,000',
      'The server read these seven lines to sign:',
    ])
    assert.deepEqual(await told({ 'x-signature': 'abc' }, { name: 'x' }), [
      'The clocks agree.',
      "It must be v1= and 64 lower-case hex digits. The server read these seven lines to sign; the last is the SHA-256 of the body's bytes as they came:",
    ])
  })

  await t.test('names that the caller chooses are not called unknown', async () => {
    const rows = [{ external_candidate_id: 'c', name: 'A', phone: '+919990000001', metadata: { a: 1 } }]
    const { body } = await caller.post('/campaigns', { mandate_id, candidates: rows }, { idempotencyKey: true })
    assert.deepEqual(body.error.details, [{ path: 'candidates[0].metadata.a', message: 'must be a string' }])
  })
})
