import type { Item, ItemWriter } from '../../server/questions/questions.ts'

/** Returns an AI writer that writes items at once, without an AI endpoint; `change` replaces some of its methods. */
export function fakeItemWriter(change: Partial<ItemWriter> = {}): ItemWriter {
  return {
    kind: 'ai',
    async writeItems({ skills, language }) {
      const items = skills.flatMap(({ skill, count }) =>
        Array.from({ length: count }, (_, index): Item => {
          const options: Item['options'] = ['Red wire first', 'Blue wire first', 'Green wire first', 'Black wire first']
          const stem = `You start work number ${index} on site today. What do you do first?`
          return { skill: skill.number, stem, options, key: 2, difficulty: 1, kind: 'order', language }
        }),
      )
      return { items, incompleteSkills: [] }
    },
    async translate({ texts, to }) {
      return Object.fromEntries(to.map((language) => [language, texts.map((text) => `${language}: ${text}`)]))
    },
    confirmKeys: async ({ items }) => items,
    ...change,
  }
}
