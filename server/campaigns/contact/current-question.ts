import { questionIn } from '../../channels/message-text.ts'
import { currentPrompts, type Prompt } from '../../conversation/conversation.ts'
import { type Medium, type RenderedPrompt, render } from '../../conversation/render.ts'
import type { Candidacy } from '../candidacy.ts'

export function renderAll(candidate: Candidacy, prompts: Prompt[], medium: Medium = 'text'): RenderedPrompt[] {
  return prompts.map((each) => render(each, candidate.state, candidate.flow, candidate, medium))
}

export function currentQuestion(candidate: Candidacy): RenderedPrompt | undefined {
  return questionIn(renderAll(candidate, currentPrompts(candidate.state, candidate.flow)))
}
