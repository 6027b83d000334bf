import type { CandidateMessage } from '../../campaigns/contact/messages.ts'
import type { ConversationFlow } from '../../conversation/flow.ts'
import type { RenderedPrompt } from '../../conversation/render.ts'
import { foldText } from '../../questions/text.ts'

/** The texts of the items of a flow that come from the organisation's own bank. */
export interface PrivateTexts {
  stems: ReadonlySet<string>
  /** The options, folded. */
  options: ReadonlySet<string>
}

const HIDDEN_QUESTION = "Question from your organisation's bank"
const HIDDEN_REPLY = "Answer to a question from your organisation's bank"

/** Returns the texts to hide from members who may not edit the organisation's own questions; undefined if there are none. */
export function findPrivateTexts({ skills }: Pick<ConversationFlow, 'skills'>): PrivateTexts | undefined {
  const texts = skills
    .filter(({ source }) => source === 'private')
    .flatMap(({ items }) => items.flatMap((item) => Object.values(item.texts)))
  if (texts.length === 0) return undefined
  return {
    stems: new Set(texts.map(({ stem }) => stem)),
    options: new Set(texts.flatMap(({ options }) => options.map(foldText))),
  }
}

/** Replaces the texts of private questions in a message or a reply. */
export function hidePrivateContent(
  content: CandidateMessage['content'],
  texts: PrivateTexts | undefined,
): CandidateMessage['content'] {
  if (!texts) return content
  if (Array.isArray(content)) return content.map((prompt) => hidePrivatePrompt(prompt, texts))
  return content.text === undefined ? content : { ...content, text: hideReply(content.text, texts) }
}

/** Replaces the question and its options if they are private. The values of the options stay, so that the simulator phone can reply. */
export function hidePrivatePrompt(prompt: RenderedPrompt, texts: PrivateTexts | undefined): RenderedPrompt {
  // The first question about a skill has an introduction, which is not private, in a line of its own.
  const stemStart = prompt.text.lastIndexOf('\n') + 1
  if (!texts?.stems.has(prompt.text.slice(stemStart))) return prompt
  return {
    ...prompt,
    text: `${prompt.text.slice(0, stemStart)}${HIDDEN_QUESTION}`,
    choices: prompt.choices.map(({ value }, index) => ({ value, label: `Option ${index + 1}` })),
  }
}

/** Replaces a reply in which the candidate typed an option or the question. */
function hideReply(text: string, { stems, options }: PrivateTexts): string {
  const isPrivate = options.has(foldText(text.trim())) || [...stems].some((stem) => text.includes(stem))
  return isPrivate ? HIDDEN_REPLY : text
}
