import type { Mode } from '../../access/keys.ts'
import type { Detail } from '../../api/problem.ts'
import type { LoadedSkills } from '../../catalogue/loaded-skills.ts'
import { testAddressError } from '../../mail/test-addresses.ts'
import { isEmail } from '../fields.ts'
import type { SessionTestScript } from './schema.ts'

/** Without a test clock, a delay is real time, and a test should not wait for it longer than this. */
const MAX_REAL_DELAY_SECONDS = 60

/** Returns the IDs of all skills that a script names. */
export function skillIdsOf(script: SessionTestScript): string[] {
  return listSkills(script).map(({ id }) => id)
}

/** Returns the skills that a script names, with their paths in the request. */
function listSkills({ student, reviewer }: SessionTestScript): { id: string; path: string }[] {
  const attempts = student?.attempts ?? []
  return [
    ...(student?.skills ?? []).map((id, index) => ({ id, path: `testScript.student.skills[${index}]` })),
    ...attempts.flatMap(({ skills = [] }, attempt) =>
      skills.map(({ skillId: id }, index) => ({
        id,
        path: `testScript.student.attempts[${attempt}].skills[${index}].skillId`,
      })),
    ),
    ...(reviewer?.notEndorsed ?? []).map((id, index) => ({ id, path: `testScript.reviewer.notEndorsed[${index}]` })),
  ]
}

/** Checks the script of a session: mode, delays, addresses, and that each skill exists in the catalogue. */
export function sessionScriptErrors(
  script: SessionTestScript | undefined,
  { mode, hasTestClock, loaded }: { mode: Mode; hasTestClock: boolean; loaded: LoadedSkills | undefined },
): Detail[] {
  if (!script) return []
  if (mode !== 'test')
    return [{ path: 'testScript', message: 'is for TEST mode only; leave it out, or use a TEST key' }]
  const { student, reviewer } = script
  const details: Detail[] = []
  for (const [name, part] of Object.entries({ student, reviewer })) {
    if (!hasTestClock && (part?.delaySeconds ?? 0) > MAX_REAL_DELAY_SECONDS)
      details.push({
        path: `testScript.${name}.delaySeconds`,
        message: `must be at most ${MAX_REAL_DELAY_SECONDS} without a test clock; for longer delays, open the session with a testClockId`,
      })
  }
  if (student?.method === 'human' && student.attempts)
    details.push({ path: 'testScript.student.attempts', message: 'is allowed only with the method assessment' })
  if (student?.method === 'assessment' && reviewer)
    details.push({ path: 'testScript.reviewer', message: 'is not allowed with the method assessment of the student' })
  if (new Set(student?.skills).size < (student?.skills.length ?? 0))
    details.push({ path: 'testScript.student.skills', message: 'must not contain duplicates' })
  if (reviewer?.email !== undefined) {
    const message = isEmail(reviewer.email)
      ? testAddressError(reviewer.email, 'reviewer', mode)
      : 'must be an email address, such as ravi@metro.example'
    if (message) details.push({ path: 'testScript.reviewer.email', message })
  }
  for (const { id, path } of listSkills(script)) {
    const shownId = JSON.stringify(id)
    if (!loaded?.byId(id))
      // A route of the public API: the one of this API requires a session token, which the caller does not have yet.
      details.push({
        path,
        message: `skill ${shownId} not found; find skill IDs with GET /api/skills/search?keyword=…`,
      })
    else if (student && !student.skills.includes(id))
      details.push({ path, message: `skill ${shownId} is not one of testScript.student.skills` })
  }
  return details
}
