import { randomUUID } from 'node:crypto'
import { type Candidacy, findCandidacy } from '../../server/campaigns/candidacy.ts'
import { personaReply } from '../../server/channels/simulator/personas.ts'
import { responsesOf } from '../../server/conversation/skill-form.ts'
import { weighResponses } from '../../server/measurement/sequential-test.ts'
import type { TestApp } from './app.ts'
import { signInMember } from './console.ts'

const SECONDS_PER_ANSWER = 12

/**
 * Answers as a candidate in TEST mode until the conversation ends: the questions about skills so that no verdict is possible, all
 * other questions like the test number that passes.
 */
export async function answerWithoutVerdict(app: TestApp, orgId: string, candidateId: string): Promise<void> {
  const recruiter = await signInMember(app, orgId, 'recruiter')
  for (;;) {
    const candidacy = (await findCandidacy(app.context.db.queries, candidateId))!
    const { state, flow, status } = candidacy
    if (status !== 'pending') return
    const persona = isCorrectAnswerDecisive(candidacy) ? 'fails_skills' : 'passes'
    const { kind: _, ...reply } = personaReply(persona, state, flow, 0)!
    app.clock.advance(SECONDS_PER_ANSWER * 1000)
    const path = `/orgs/${orgId}/test/phone/${candidateId}/reply`
    const response = await recruiter.post(path, { ...reply, client_id: randomUUID() })
    if (response.status !== 200) throw new Error(`${response.status} ${JSON.stringify(response.body)}`)
  }
}

/** Returns whether a correct answer to the current question makes a verdict more certain than a wrong one. */
function isCorrectAnswerDecisive({ state, flow }: Candidacy): boolean {
  const { point } = state
  if (point.at !== 'skills') return false
  const { id } = state.skills[point.skill]![point.item]!
  const { difficulty } = flow.skills[point.skill]!.items.find((item) => item.id === id)!
  const responses = responsesOf(state, flow, point.skill)
  const confidenceAfter = (isCorrect: boolean) => weighResponses([...responses, { difficulty, isCorrect }]).confidence
  return confidenceAfter(true) > confidenceAfter(false)
}
