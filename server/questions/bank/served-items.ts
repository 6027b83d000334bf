import { drawItem, KEY } from '../../measurement/form.ts'
import type { Language } from '../../platform/text/languages.ts'
import { distractorCount, type SkillItem, showItem } from '../skill-items.ts'

/** An item as a person sees it: the stem, the key and three distractors that were drawn for this person. */
export interface ServedItem {
  /** The trade, which is the name of the file without its extension. */
  trade: string
  language: Language
  stem: string
  options: string[]
  /** Index of the key. */
  key: number
}

/** Serves an item to several people in all its languages, with the functions that a conversation uses. */
export function serveItem(item: SkillItem, trade: string, people: number): ServedItem[] {
  const drawable = { pool: item.pool, kind: item.kind, distractorCount: distractorCount(item) }
  return Array.from({ length: people }, (_, person) => {
    const seed = `person ${person} ${item.id}`
    const { options } = drawItem([drawable], [], seed)!
    return (Object.keys(item.texts) as Language[]).map((language) => ({
      trade,
      language,
      ...showItem(item, options, seed, language),
      key: options.indexOf(KEY),
    }))
  }).flat()
}
