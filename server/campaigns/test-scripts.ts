import type { Detail } from '../api/problem.ts'
import type { TestScript } from '../channels/simulator/test-script.ts'
import type { Flow } from '../mandates/flow.ts'

/** Without a test clock, a delay is real time, and a test should not wait for it longer than this. */
const MAX_REAL_DELAY_SECONDS = 60

export const TEST_ONLY_MESSAGE = 'is for TEST mode only; leave it out, or use a TEST key'

/** Checks the scripts of simulated candidates against the questions of their mandate. */
export function testScriptErrors(
  candidates: { test_script?: TestScript }[],
  flow: Flow,
  hasTestClock: boolean,
): Detail[] {
  return candidates.flatMap(({ test_script }, index) =>
    test_script
      ? scriptErrors(test_script, flow, hasTestClock).map(({ path, message }) => ({
          path: `candidates[${index}].test_script.${path}`,
          message,
        }))
      : [],
  )
}

function scriptErrors(script: TestScript, flow: Flow, hasTestClock: boolean): Detail[] {
  const { reply_delay_seconds = 0, silent_after, stop_after, enrichment = {}, skills = [] } = script
  const details: Detail[] = []
  if (!hasTestClock && reply_delay_seconds > MAX_REAL_DELAY_SECONDS)
    details.push({
      path: 'reply_delay_seconds',
      message: `must be at most ${MAX_REAL_DELAY_SECONDS} without a test clock; for longer delays, create the campaign with a test_clock_id`,
    })
  if (silent_after !== undefined && stop_after !== undefined)
    details.push({ path: 'stop_after', message: 'is not allowed with silent_after; send one of the two' })
  for (const [key, answer] of Object.entries(enrichment)) {
    const question = flow.enrichment.find((each) => each.key === key)
    const path = `enrichment.${key}`
    if (!question) details.push({ path, message: `is not an enrichment question of the mandate; ${listKeys(flow)}` })
    else if (question.type === 'yes_no' && answer !== 'yes' && answer !== 'no')
      details.push({ path, message: `must be yes or no; got ${JSON.stringify(answer.slice(0, 40))}` })
  }
  skills.forEach(({ skill_id }, index) => {
    const path = `skills[${index}].skill_id`
    if (!flow.skills.some((skill) => skill.skill_id === skill_id))
      details.push({ path, message: `is not a verified skill of the mandate; ${listSkills(flow)}` })
    else if (skills.findIndex((each) => each.skill_id === skill_id) !== index)
      details.push({ path, message: 'is a duplicate; list each skill once' })
  })
  return details
}

function listKeys({ enrichment }: Flow): string {
  const keys = enrichment.map(({ key }) => key)
  return keys.length > 0 ? `its keys are: ${keys.join(', ')}` : 'it has none'
}

function listSkills({ skills }: Flow): string {
  const ids = skills.map(({ skill_id }) => skill_id)
  return ids.length > 0 ? `these are: ${ids.join(', ')}` : 'it has none'
}
