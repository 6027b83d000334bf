import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { ItemsRequest } from '../../server/questions/questions.ts'
import { storeExpiredStatuses } from '../../server/verification/jobs.ts'
import { remindReviewers } from '../../server/verification/reviews/review-requests.ts'
import { outcome, startVerification, type TestSession, type VerificationCalls } from '../support/verification.ts'
import * as model from './verification-model.ts'

// Compares random sequences of HTTP calls with a small model of the session states.
//   npm test -- verification-model                           150 sequences
//   TEST_SEQUENCES=2000 npm test -- verification-model       a longer run
const SEQUENCES = Number(process.env.TEST_SEQUENCES ?? 150)

const HOUR = 3_600_000
/** The clock advances with every call, so that no rate limit is reached. */
const CALL_INTERVAL_MS = 2000

const session = fc.nat(3)
const skills = fc.uniqueArray(fc.integer({ min: 1001, max: 1014 }), { minLength: 1, maxLength: 6 })
const type = fc.constantFrom('manager', 'peer', 'mentor')
const method = fc.constantFrom('human' as const, 'assessment' as const)
const sources = fc.subarray(model.SOURCES, { minLength: 1 })
const email = fc.nat(4).map((number) => `reviewer${number}@metro.example`)

const prepared = { student: fc.nat(1), skills, type, sources }
const endorse = fc.constantFrom('all', 'some', 'declined')
const old = fc.nat(4).map((number) => number === 0)
const action = <Name extends string, T>(
  weight: number,
  name: Name,
  fields: { [K in keyof T]: fc.Arbitrary<T[K]> },
) => ({
  weight,
  arbitrary: fc.record(fields).map((values) => ({ do: name, ...values })),
})

const command = fc.oneof(
  // Several steps of a typical session, so that sequences reach late states.
  action(3, 'prepare', { ...prepared, method }),
  action(6, 'request', { ...prepared, email }),
  action(6, 'assess', { ...prepared, right: fc.boolean() }),
  action(5, 'review', { session, old, endorse }),
  action(5, 'attempt', { session, right: fc.boolean() }),
  // Single calls in any state.
  action(1, 'open', { student: fc.nat(1) }),
  action(2, 'skills', { session, skills, type }),
  action(2, 'method', { session, method }),
  action(2, 'items', {
    session,
    sources: fc.oneof(
      { weight: 8, arbitrary: sources },
      fc.constant<string[]>([]),
      fc.constant<string[]>(['w-1', 'w-9']),
    ),
  }),
  action(4, 'reviewer', { session, email }),
  action(2, 'generate', { session }),
  action(2, 'answers', { session, right: fc.boolean() }),
  action(1, 'page', { session }),
  action(1, 'jobs', {}),
  action(2, 'wait', { hours: fc.constantFrom(0.5, 1, 24, 80, 31 * 24) }),
)

type Command = typeof command extends fc.Arbitrary<infer T> ? T : never

test(`the API agrees with the model in ${SEQUENCES} random sequences of calls`, {
  timeout: 60_000 + SEQUENCES * 1000,
}, async (t) => {
  const calls = await startVerification(t)
  calls.app.context.writer = { kind: 'built-in', translate: async () => undefined, writeItems }
  const outcomes = new Map<string, number>()
  let sequence = 0
  await fc.assert(
    fc.asyncProperty(fc.array(command, { minLength: 3, maxLength: 10 }), async (commands) => {
      await new Run(calls, sequence++, outcomes).play(commands)
    }),
    { numRuns: SEQUENCES },
  )
  const rows = [...outcomes].sort(([, a], [, b]) => b - a).map(([name, count]) => `${name}: ${count}`)
  t.diagnostic(`${sequence} sequences; outcomes: ${rows.join(', ')}`)
})

interface Pair {
  real: TestSession
  model: model.ModelSession
  /** The token of each email, by the number of the email. */
  tokens: string[]
}

/** One sequence of calls, with new students. */
class Run {
  readonly #calls: VerificationCalls
  readonly #sequence: number
  readonly #students: model.ModelStudent[] = [{ sessions: [] }, { sessions: [] }]
  readonly #pairs: Pair[] = []
  readonly #outcomes: Map<string, number>

  constructor(calls: VerificationCalls, sequence: number, outcomes: Map<string, number>) {
    this.#calls = calls
    this.#sequence = sequence
    this.#outcomes = outcomes
  }

  async play(commands: Command[]): Promise<void> {
    for (const each of commands) await this.#execute(each)
    for (const pair of this.#pairs) await this.#compare(pair)
  }

  async #execute(each: Command): Promise<void> {
    const calls = this.#calls
    switch (each.do) {
      case 'open':
        return this.#open(each.student)
      case 'wait':
        return calls.clock.advance(each.hours * HOUR)
      case 'jobs':
        await storeExpiredStatuses(calls.app.context)
        await remindReviewers(calls.app.context)
        return
      case 'prepare': {
        await this.#open(each.student)
        const session = 0 // the newest
        await this.#execute({ do: 'skills', session, skills: each.skills, type: each.type })
        await this.#execute({ do: 'method', session, method: each.method })
        return this.#execute({ do: 'items', session, sources: each.sources })
      }
      case 'request':
        await this.#execute({ ...each, do: 'prepare', method: 'human' })
        return this.#execute({ do: 'reviewer', session: 0, email: each.email })
      case 'assess':
        await this.#execute({ ...each, do: 'prepare', method: 'assessment' })
        return this.#execute({ do: 'attempt', session: 0, right: each.right })
      case 'attempt':
        await this.#execute({ do: 'generate', session: each.session })
        return this.#execute({ do: 'answers', session: each.session, right: each.right })
      default:
        if (this.#pairs.length > 0) await this.#call(each, this.#pairs.at(-1 - (each.session % this.#pairs.length))!)
    }
  }

  async #open(student: number) {
    const real = await this.#calls.openSession({ externalStudentId: `s${this.#sequence}-${student}` })
    this.#pairs.push({ real, model: model.openModel(this.#students[student]!, this.#now()), tokens: [] })
  }

  async #call(
    each: Exclude<Command, { do: 'open' | 'wait' | 'jobs' | 'prepare' | 'request' | 'assess' | 'attempt' }>,
    pair: Pair,
  ) {
    const calls = this.#calls
    const { real } = pair
    calls.clock.advance(CALL_INTERVAL_MS)
    const now = this.#now()
    const [expected, response] = await (async (): Promise<[string, Awaited<ReturnType<VerificationCalls['call']>>]> => {
      switch (each.do) {
        case 'skills': {
          const ids = each.skills.map((number) => `sk_${number}`)
          return [
            model.storeSkills(pair.model, now, each.skills, each.type),
            await calls.storeSkills(real, ids, { endorsementType: each.type }),
          ]
        }
        case 'method':
          return [model.chooseMethod(pair.model, now, each.method), await calls.chooseMethod(real, each.method)]
        case 'items': {
          const of = (letter: string) => each.sources.filter((source) => source.startsWith(letter))
          const chosen = { workExperienceIds: of('w'), projectIds: of('p'), credentialIds: of('c') }
          return [model.storeItems(pair.model, now, each.sources), await calls.storeItems(real, chosen)]
        }
        case 'reviewer':
          return [
            model.storeReviewer(pair.model, now, each.email),
            await calls.storeReviewer(real, { email: each.email }),
          ]
        case 'review': {
          const email = each.old ? pair.model.emails - 1 : pair.model.emails
          const token = pair.tokens[email] ?? 'vrt_unknown'
          const endorsed = each.endorse === 'all' ? pair.model.skills : pair.model.skills.slice(1)
          const decisions = pair.model.skills.map((number) => ({
            skillId: `sk_${number}`,
            endorsed: endorsed.includes(number),
          }))
          const body = each.endorse === 'declined' ? { declined: true, reason: 'No' } : { decisions }
          const result = each.endorse === 'declined' ? undefined : endorsed
          return [model.submitReview(pair.model, now, email, result), await calls.submitReview(real, token, body)]
        }
        case 'page':
          return [model.readPage(pair.model, now), await calls.getReviewPage(real)]
        case 'generate':
          return [model.generate(pair.model, now), await calls.generateAssessment(real)]
        case 'answers': {
          const correct = each.right && pair.model.attempts.length > 0 ? await calls.getCorrectAnswers(real) : []
          const answers = correct.map(({ questionId, option }) => ({ questionId, option }))
          return [model.submitAnswers(pair.model, now, each.right), await calls.submitAnswers(real, answers)]
        }
      }
    })()
    const name = `${each.do} ${expected}`
    this.#outcomes.set(name, (this.#outcomes.get(name) ?? 0) + 1)
    assert.equal(outcome(response), expected, JSON.stringify(each))
    await this.#readEmail(pair)
    if (each.do === 'review' || each.do === 'answers') await this.#compare(pair)
  }

  /** Stores the token of a new email under the number that the model gave the email, starting with 1. */
  async #readEmail(pair: Pair) {
    pair.tokens[0] ??= 'vrt_none'
    if (pair.model.emails < pair.tokens.length) return
    const token = await this.#calls.getReviewToken(pair.real)
    assert.ok(!pair.tokens.includes(token), 'each email has a new link')
    pair.tokens[pair.model.emails] = token
  }

  async #compare({ real, model: expected }: Pair) {
    this.#calls.clock.advance(CALL_INTERVAL_MS)
    const { status } = await this.#calls.getVerification(real)
    assert.equal(status, model.statusOf(expected, this.#now()))
  }

  #now() {
    return this.#calls.clock.now()
  }
}

/** Writes questions without content, since only states are compared. */
async function writeItems({ skills: requested }: ItemsRequest) {
  const items = requested.flatMap(({ skill, count }) =>
    Array.from({ length: count }, (_, index) => ({
      skill: skill.number,
      stem: `${skill.name} ${index}?`,
      options: ['a', 'b', 'c', 'd'] as [string, string, string, string],
      key: (index % 4) as 0 | 1 | 2 | 3,
      difficulty: 1 as const,
      kind: 'plain',
      language: 'en' as const,
    })),
  )
  return { items, incompleteSkills: [] }
}
