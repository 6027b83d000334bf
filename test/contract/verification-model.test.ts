import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { storeExpiredStatuses } from '../../server/verification/jobs.ts'
import { remindReviewers } from '../../server/verification/reviews/review-requests.ts'
import { outcomeOf, startVerification, type TestSession, type VerificationCalls } from '../support/verification.ts'
import * as model from './verification-model.ts'

// Compares random sequences of HTTP calls with a small model of the session states.
//   npm test -- verification-model                           150 sequences of calls
//   TEST_SEQUENCES=2000 npm test -- verification-model       2,000 sequences of calls
const SEQUENCE_COUNT = Number(process.env.TEST_SEQUENCES ?? 150)

const HOUR_MS = 3_600_000
/** The clock advances by this time before every call, so that no rate limit is reached. */
const CALL_INTERVAL_MS = 2000

const anySession = fc.nat(3)
const anySkills = fc.uniqueArray(
  fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(...model.ASSESSABLE_SKILLS) },
    fc.constantFrom(...model.OTHER_SKILLS),
  ),
  { minLength: 1, maxLength: 6 },
)
const anyType = fc.constantFrom('manager', 'peer', 'mentor')
const anyMethod = fc.constantFrom('human' as const, 'assessment' as const)
const anySources = fc.subarray(model.SOURCES, { minLength: 1 })
const anyEmail = fc.nat(4).map((number) => `reviewer${number}@metro.example`)

const anyPreparation = { student: fc.nat(1), skills: anySkills, type: anyType, sources: anySources }
const anyDecision = fc.constantFrom('all', 'some', 'declined')
const anyCorrectness = fc.constantFrom('all' as const, 'first' as const, 'none' as const)
const mostlyFalse = fc.nat(4).map((number) => number === 0)
const weightedCommand = <Name extends string, T>(
  weight: number,
  name: Name,
  fields: { [K in keyof T]: fc.Arbitrary<T[K]> },
) => ({
  weight,
  arbitrary: fc.record(fields).map((values) => ({ do: name, ...values })),
})

const anyCommand = fc.oneof(
  // Commands that make several calls, as in a typical session, so that sequences reach late states.
  weightedCommand(3, 'prepare', { ...anyPreparation, method: anyMethod }),
  weightedCommand(6, 'request', { ...anyPreparation, email: anyEmail }),
  weightedCommand(6, 'assess', { ...anyPreparation, right: anyCorrectness }),
  weightedCommand(5, 'review', { session: anySession, old: mostlyFalse, endorse: anyDecision }),
  weightedCommand(5, 'attempt', { session: anySession, right: anyCorrectness }),
  // Commands that make a single call, in any state of the session.
  weightedCommand(1, 'open', { student: fc.nat(1) }),
  weightedCommand(2, 'skills', { session: anySession, skills: anySkills, type: anyType }),
  weightedCommand(2, 'method', { session: anySession, method: anyMethod }),
  weightedCommand(2, 'items', {
    session: anySession,
    sources: fc.oneof(
      { weight: 8, arbitrary: anySources },
      fc.constant<string[]>([]),
      fc.constant<string[]>(['w-1', 'w-9']),
    ),
  }),
  weightedCommand(4, 'reviewer', { session: anySession, email: anyEmail }),
  weightedCommand(2, 'generate', { session: anySession }),
  weightedCommand(2, 'answers', { session: anySession, right: anyCorrectness }),
  weightedCommand(1, 'page', { session: anySession }),
  weightedCommand(1, 'jobs', {}),
  weightedCommand(2, 'wait', { hours: fc.constantFrom(0.5, 1, 24, 80, 31 * 24) }),
)

type Command = typeof anyCommand extends fc.Arbitrary<infer T> ? T : never

test(`the API agrees with the model in ${SEQUENCE_COUNT} random sequences of calls`, {
  timeout: 60_000 + SEQUENCE_COUNT * 1000,
}, async (t) => {
  const calls = await startVerification(t)
  const outcomes = new Map<string, number>()
  let sequence = 0
  await fc.assert(
    fc.asyncProperty(fc.array(anyCommand, { minLength: 3, maxLength: 10 }), async (commands) => {
      await new SequenceRun(calls, sequence++, outcomes).play(commands)
    }),
    { numRuns: SEQUENCE_COUNT },
  )
  const rows = [...outcomes].sort(([, a], [, b]) => b - a).map(([name, count]) => `${name}: ${count}`)
  t.diagnostic(`${sequence} sequences; outcomes: ${rows.join(', ')}`)
})

interface SessionPair {
  real: TestSession
  model: model.ModelSession
  /** The review token in each email, by the number of the email. */
  tokens: string[]
}

/** Runs one sequence of calls, with new students. */
class SequenceRun {
  readonly #calls: VerificationCalls
  readonly #sequence: number
  readonly #students: model.ModelStudent[] = [{ sessions: [] }, { sessions: [] }]
  readonly #pairs: SessionPair[] = []
  readonly #outcomes: Map<string, number>

  constructor(calls: VerificationCalls, sequence: number, outcomes: Map<string, number>) {
    this.#calls = calls
    this.#sequence = sequence
    this.#outcomes = outcomes
  }

  async play(commands: Command[]): Promise<void> {
    for (const command of commands) await this.#execute(command)
    for (const pair of this.#pairs) await this.#compare(pair)
  }

  async #execute(command: Command): Promise<void> {
    const calls = this.#calls
    switch (command.do) {
      case 'open':
        return this.#open(command.student)
      case 'wait':
        return calls.clock.advance(command.hours * HOUR_MS)
      case 'jobs':
        await storeExpiredStatuses(calls.app.context)
        await remindReviewers(calls.app.context)
        return
      case 'prepare': {
        await this.#open(command.student)
        const session = 0 // the newest
        await this.#execute({ do: 'skills', session, skills: command.skills, type: command.type })
        await this.#execute({ do: 'method', session, method: command.method })
        return this.#execute({ do: 'items', session, sources: command.sources })
      }
      case 'request':
        await this.#execute({ ...command, do: 'prepare', method: 'human' })
        return this.#execute({ do: 'reviewer', session: 0, email: command.email })
      case 'assess':
        await this.#execute({ ...command, do: 'prepare', method: 'assessment' })
        return this.#execute({ do: 'attempt', session: 0, right: command.right })
      case 'attempt':
        await this.#execute({ do: 'generate', session: command.session })
        return this.#execute({ do: 'answers', session: command.session, right: command.right })
      default:
        if (this.#pairs.length > 0)
          await this.#call(command, this.#pairs.at(-1 - (command.session % this.#pairs.length))!)
    }
  }

  async #open(student: number) {
    const apiSession = await this.#calls.openSession({ externalStudentId: `s${this.#sequence}-${student}` })
    this.#pairs.push({
      real: apiSession,
      model: model.openModelSession(this.#students[student]!, this.#now()),
      tokens: [],
    })
  }

  async #call(
    command: Exclude<Command, { do: 'open' | 'wait' | 'jobs' | 'prepare' | 'request' | 'assess' | 'attempt' }>,
    pair: SessionPair,
  ) {
    const calls = this.#calls
    const { real } = pair
    calls.clock.advance(CALL_INTERVAL_MS)
    const now = this.#now()
    const [expected, response] = await (async (): Promise<[string, Awaited<ReturnType<VerificationCalls['call']>>]> => {
      switch (command.do) {
        case 'skills': {
          const skillIds = command.skills.map((number) => `sk_${number}`)
          return [
            model.storeSkills(pair.model, now, command.skills, command.type),
            await calls.storeSkills(real, skillIds, { endorsementType: command.type }),
          ]
        }
        case 'method':
          return [model.chooseMethod(pair.model, now, command.method), await calls.chooseMethod(real, command.method)]
        case 'items': {
          const sourcesOfKind = (letter: string) => command.sources.filter((source) => source.startsWith(letter))
          const chosenItems = {
            workExperienceIds: sourcesOfKind('w'),
            projectIds: sourcesOfKind('p'),
            credentialIds: sourcesOfKind('c'),
          }
          return [model.storeItems(pair.model, now, command.sources), await calls.storeItems(real, chosenItems)]
        }
        case 'reviewer':
          return [
            model.storeReviewer(pair.model, now, command.email),
            await calls.storeReviewer(real, { email: command.email }),
          ]
        case 'review': {
          const emailNumber = command.old ? pair.model.emails - 1 : pair.model.emails
          const token = pair.tokens[emailNumber] ?? 'vrt_unknown'
          const endorsedSkills = command.endorse === 'all' ? pair.model.skills : pair.model.skills.slice(1)
          const decisions = pair.model.skills.map((number) => ({
            skillId: `sk_${number}`,
            endorsed: endorsedSkills.includes(number),
          }))
          const body = command.endorse === 'declined' ? { declined: true, reason: 'No' } : { decisions }
          const expectedEndorsed = command.endorse === 'declined' ? undefined : endorsedSkills
          return [
            model.submitReview(pair.model, now, emailNumber, expectedEndorsed),
            await calls.submitReview(real, token, body),
          ]
        }
        case 'page':
          return [model.openReviewPage(pair.model, now), await calls.getReviewPage(real)]
        case 'generate':
          return [model.generateAssessment(pair.model, now), await calls.generateAssessment(real)]
        case 'answers': {
          const correctAnswers = pair.model.attempts.length > 0 ? await calls.getCorrectAnswers(real) : []
          const answers = correctAnswers
            .filter(({ skill }) => command.right === 'all' || skill === correctAnswers[0]!.skill)
            .map(({ questionId, option }) => ({ questionId, option }))
            .slice(0, command.right === 'none' ? 0 : undefined)
          return [model.submitAnswers(pair.model, now, command.right), await calls.submitAnswers(real, answers)]
        }
      }
    })()
    const outcomeName = `${command.do} ${expected}`
    this.#outcomes.set(outcomeName, (this.#outcomes.get(outcomeName) ?? 0) + 1)
    assert.equal(outcomeOf(response), expected, JSON.stringify(command))
    await this.#readEmail(pair)
    if (command.do === 'review' || command.do === 'answers') await this.#compare(pair)
  }

  /** Stores the review token of a new email under the number of the email in the model; the first email has number 1. */
  async #readEmail(pair: SessionPair) {
    pair.tokens[0] ??= 'vrt_none'
    if (pair.model.emails < pair.tokens.length) return
    const token = await this.#calls.getReviewToken(pair.real)
    assert.ok(!pair.tokens.includes(token), 'each email has a new link')
    pair.tokens[pair.model.emails] = token
  }

  async #compare({ real, model: expected }: SessionPair) {
    this.#calls.clock.advance(CALL_INTERVAL_MS)
    const { status } = await this.#calls.getVerification(real)
    assert.equal(status, model.statusOf(expected, this.#now()))
  }

  #now() {
    return this.#calls.clock.now()
  }
}
