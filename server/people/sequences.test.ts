import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApp } from '../../test/support/app.ts'
import { inviteCandidates } from '../../test/support/candidate.ts'
import { createCampaignPartner } from '../../test/support/partners.ts'

/** The sequence of a failed run can be repeated with SEED; a longer one runs with STEPS. */
const SEED = Number(process.env.SEED ?? 20_261_117)
const STEPS = Number(process.env.STEPS ?? 60)
const MAX_MS = 20_000
const PHONES = ['+919810000001', '+919810000002', '+919810000003', '+919810000004']
const REQUEST = { basis: 'GDPR', requested_by: 'the person' }

interface ModelCandidate {
  externalId: string
  page: { view(): Promise<any>; reply(content: { value: string } | { text: string }): Promise<any> }
  answered: boolean
}

interface ModelPerson {
  phone: string
  personId: string
  name: string
  /** Everything that was ever stored for the person; unique texts. */
  texts: string[]
  candidates: ModelCandidate[]
  state: 'active' | 'restricted' | 'erased'
}

test('random sequences of enrolments, answers, corrections, restrictions, erasures and replays match a model', async (t) => {
  t.diagnostic(`SEED=${SEED}`)
  const random = createRandom(SEED)
  const pick = <T>(values: readonly T[]): T | undefined => values[Math.floor(random() * values.length)]
  const app = await startApp(t)
  const partner = await createCampaignPartner(app)
  const { mandate_id } = await partner.createMandate({ languages: ['en'] }, {
    methods: ['data_enrichment'],
    enrichment_questions: [{ key: 'work', type: 'voice', text: 'Describe your work.' }],
  } as never)
  const people: ModelPerson[] = []
  const living = () => people.filter(({ state }) => state !== 'erased')
  let textCount = 0
  const newText = (kind: string) => `${kind} ${++textCount}q`

  const operations: Record<string, () => Promise<void>> = {
    async enrol() {
      const phone = pick(PHONES)!
      const name = newText('Person')
      const externalId = `ext-${++textCount}`
      const [candidate] = await inviteCandidates(app, partner, mandate_id, [
        { external_candidate_id: externalId, name, phone } as never,
      ])
      let person = living().find((each) => each.phone === phone)
      if (!person) {
        const found = await findIds(phone)
        assert.equal(found.length, 1)
        assert.ok(!people.some(({ personId }) => personId === found[0]), 'an erased person gets a new ID')
        person = { phone, personId: found[0]!, name, texts: [], candidates: [], state: 'active' }
        people.push(person)
      }
      person.name = name
      person.texts.push(name)
      person.candidates.push({ externalId, page: candidate!.page, answered: false })
    },
    async answer() {
      const person = pick(living().filter(({ state }) => state === 'active'))
      const candidate = pick(person?.candidates.filter(({ answered }) => !answered) ?? [])
      if (!person || !candidate) return
      const words = newText('My work')
      await candidate.page.view()
      await candidate.page.reply({ value: 'yes' })
      await candidate.page.reply({ text: words })
      person.texts.push(words)
      candidate.answered = true
    },
    async correct() {
      const person = pick(living().filter(({ state }) => state === 'active'))
      if (!person) return
      const name = newText('Corrected')
      await expect(partner.patch(`/people/${person.personId}`, { name, ...REQUEST }))
      person.texts.push(name)
      person.name = name
    },
    async restrict() {
      const person = pick(living())
      if (!person) return
      const action = person.state === 'active' ? 'restrict' : 'unrestrict'
      await expect(partner.post(`/people/${person.personId}/${action}`, REQUEST))
      person.state = person.state === 'active' ? 'restricted' : 'active'
    },
    async erase() {
      const person = pick(people) // also people who were erased before
      if (!person) return
      const { body } = await expect(partner.post(`/people/${person.personId}/erase`, REQUEST))
      assert.equal(body.data.status, 'erased')
      person.state = 'erased'
    },
    check,
  }

  const startedAt = performance.now()
  const counts: Record<string, number> = {}
  for (let step = 0; step < STEPS && performance.now() - startedAt < MAX_MS; step++) {
    const name = pick(['enrol', 'enrol', 'answer', 'answer', 'correct', 'restrict', 'erase', 'check'])!
    await operations[name]!()
    counts[name] = (counts[name] ?? 0) + 1
  }
  await check()
  t.diagnostic(JSON.stringify(counts))

  async function check() {
    const results = (await partner.get('/results?limit=100')).body.data.items
    const events = (await partner.get('/events?acknowledged=all&limit=100')).body.data.items
    const readable = JSON.stringify([results, events])
    for (const { personId, phone, name, texts, candidates, state } of people) {
      const { status } = (await partner.get(`/people/${personId}`)).body.data
      assert.equal(status, state)
      const exported = JSON.stringify((await partner.get(`/people/${personId}/export`)).body.data.sections)
      if (state === 'erased') {
        for (const text of texts) assert.ok(!readable.includes(text) && !exported.includes(text), `${text} is readable`)
        for (const { externalId } of candidates) assert.equal(nameIn(results, externalId), 'erased')
        continue
      }
      assert.deepEqual(await findIds(phone), [personId])
      assert.ok(exported.includes(name))
      assert.equal(nameIn(results, candidates.at(-1)!.externalId), name)
    }
    const phones = new Set(living().map(({ phone }) => phone))
    for (const phone of PHONES) assert.equal((await findIds(phone)).length, phones.has(phone) ? 1 : 0)
  }

  function nameIn(results: any[], externalId: string): string {
    return results.find(({ candidate }) => candidate.external_candidate_id === externalId).candidate.name
  }

  async function findIds(phone: string): Promise<string[]> {
    const { body } = await partner.get(`/people?phone=${encodeURIComponent(phone)}`)
    return body.data.items.map(({ person_id }: { person_id: string }) => person_id)
  }

  async function expect(pending: Promise<{ status: number; body: any }>) {
    const response = await pending
    assert.equal(response.status, 200, JSON.stringify(response.body))
    return response
  }
})

/** Returns a generator of pseudo-random numbers between 0 and 1 (mulberry32). */
function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let value = Math.imul(state ^ (state >>> 15), 1 | state)
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value
    return ((value ^ (value >>> 14)) >>> 0) / 4294967296
  }
}
