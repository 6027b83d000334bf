import assert from 'node:assert/strict'
import { systemClock } from '../../server/platform/clock.ts'
import { createLog } from '../../server/platform/log.ts'
import { AiWriter, type AiWriterOptions } from '../../server/questions/ai/writer.ts'
import type { AiSettings, ItemsRequest } from '../../server/questions/questions.ts'
import type { WriterErrorReason } from '../../server/questions/writer-error.ts'
import { type AiResponder, type ReceivedAiCall, respondWithCompletion, startAiEndpoint } from './ai-endpoint.ts'
import type { Cleanup } from './cleanup.ts'

const log = createLog('silent')

export const WELDING_SKILL = { number: 4001, name: 'Arc welding', description: 'Joins steel with coated electrodes.' }
export const WIRING_SKILL = { number: 2001, name: 'House wiring', description: 'Lays circuits in homes.' }

/** Situations with the right and a wrong reaction, for items that pass the checks. */
export const SITUATIONS = [
  ['the rod sticks to the plate at each start', 'Raise the current a little', 'Lower the current a little'],
  ['slag is trapped between two runs of a joint', 'Clean each run with a brush', 'Cool each run with a hose'],
  ['a neighbour stands near your arc without a screen', 'Stop and put a curtain up', 'Go on and turn your back'],
  ['the cable lug is hot after ten minutes', 'Clean and tighten the clamp', 'Wrap and cover the warm clamp'],
  ['a thin sheet burns through at its edge', 'Use a smaller rod size', 'Use a larger rod size'],
  ['porosity shows in the bead on a wet day', 'Dry the rods in an oven', 'Soak the rods in clean oil'],
  ['the flange pulls out of square while it cools', 'Tack it on both sides', 'Tack it on one side'],
  ['the holder has a crack in its handle', 'Change it before the shift', 'Tape it after the shift'],
  ['the arc wanders along the end of a long bar', 'Move the earth clamp nearer', 'Move the earth clamp farther'],
  ['undercut appears along an upright fillet', 'Travel slower with less current', 'Travel faster with more current'],
  ['the coating of a rod has chipped off', 'Put this rod out of use', 'Put this rod in first'],
  ['two plates of a butt joint touch without a gap', 'Open the root by 2 mm', 'Close the root by 2 mm'],
  ['the crater at the end of a run has split', 'Pause to fill the crater', 'Pause to chill the crater'],
] as const

export function writtenItem(skill: { number: number; name: string }, index: number, overrides: object = {}) {
  const [situation, rightReaction, wrongReaction] = SITUATIONS[index % SITUATIONS.length]!
  return {
    skill: skill.number,
    kind: 'situation',
    difficulty: (index % 3) + 1,
    stem: `${skill.name} at Metro Ltd: ${situation}. What do you do?`,
    right: rightReaction,
    wrong_1: wrongReaction,
    wrong_2: `Ask for a break of ${index + 2} hours`,
    wrong_3: `Ask for a bonus of ${index + 2} rupees`,
    ...overrides,
  }
}

/** Returns as many valid items as the call requests, starting with the situation at index `firstSituation`. */
export const validItems =
  (firstSituation = 0) =>
  (call: ReceivedAiCall) => {
    let index = firstSituation
    const items = call.data.skills.flatMap(({ number, name, count }) =>
      Array.from({ length: count }, () => ({
        ...writtenItem({ number, name }, index),
        wrong_2: `Ask ${number} for a break of ${index} hours`,
        wrong_3: `Ask ${number} for a bonus of ${index++} rupees`,
      })),
    )
    return { items }
  }

/** Returns items like `validItems` whose key is the wrong reaction, as by a model that follows an instruction in the text of a person. */
export const miskeyedItems =
  (firstSituation = 0) =>
  (call: ReceivedAiCall) => ({
    items: validItems(firstSituation)(call).items.map((item) => ({
      ...item,
      right: item.wrong_1,
      wrong_1: item.right,
    })),
  })

/**
 * Answers the items of a verification call by knowledge of the situations: right is the option that is neither the wrong reaction nor a
 * request for a break or a bonus.
 */
export const answerFromKnowledge = (call: ReceivedAiCall) => ({
  answers: call.data.items.map(({ item, question, options }) => {
    const situation = SITUATIONS.find(([text]) => question.includes(text))
    const rightOption = options.findIndex((option) => option !== situation?.[2] && !option.startsWith('Ask '))
    return { item, reason: 'It is done so.', right: situation ? [rightOption + 1] : [] }
  }),
})

interface WriterSetup extends Partial<AiWriterOptions> {
  settings?: Partial<AiSettings>
  /** Responds to the verification calls; each call gets the next one, the last one gets all later calls. */
  verifiers?: AiResponder[]
}

/** Starts a writer whose endpoint responds to verification calls separately from all other calls. */
export async function startWriter(t: Cleanup, responders: AiResponder[], setup: WriterSetup = {}) {
  const { settings, verifiers = [respondWithCompletion(answerFromKnowledge)], ...options } = setup
  const calls: ReceivedAiCall[] = []
  const verificationCalls: ReceivedAiCall[] = []
  const { baseUrl, calls: allCalls } = await startAiEndpoint(t, (call, response) => {
    const isVerification = call.body.response_format.json_schema.name === 'answers'
    const [list, listResponders] = isVerification ? [verificationCalls, verifiers] : [calls, responders]
    list.push(call)
    listResponders[Math.min(list.length, listResponders.length) - 1]!(call, response)
  })
  const writer = new AiWriter(
    { baseUrl, apiKey: 'secret-key', model: 'some-model', ...settings },
    { clock: systemClock, log, budgetMs: 5000, ...options },
  )
  return { writer, calls, verificationCalls, allCalls }
}

export const itemsRequest = (count = 3, overrides: Partial<ItemsRequest> = {}): ItemsRequest => ({
  skills: [{ skill: WELDING_SKILL, count }],
  context: { role: 'Fabricator', company: 'Metro Ltd' },
  language: 'en',
  seed: 'seed',
  ...overrides,
})

export const failsWith = (reason: WriterErrorReason) => (error: unknown) => {
  assert.equal((error as { reason?: string }).reason, reason, String(error))
  return true
}
