import type { SkillIndex } from '../server/catalogue/index/skill-index.ts'
import type { BenchmarkRow } from './support/benchmark.ts'

interface Span {
  start: number
  end: number
}

/** Compares the mentions that `extract` finds with the labelled spans of the texts. */
export function spanRows(name: string, index: SkillIndex, texts: { text: string; spans: Span[] }[]): BenchmarkRow[] {
  let spanCount = 0
  let mentionCount = 0
  let exactCount = 0
  let overlappingMentions = 0
  let overlappedSpans = 0
  for (const { text, spans } of texts) {
    // Several skills can have the same mention.
    const allMentions = index.extract(text, 100).flatMap((skill) => skill.mentions)
    const mentions = [...new Map(allMentions.map((mention) => [`${mention.start} ${mention.end}`, mention])).values()]
    spanCount += spans.length
    mentionCount += mentions.length
    for (const mention of mentions) {
      if (spans.some(({ start, end }) => start === mention.start && end === mention.end)) exactCount++
      if (spans.some((span) => spansOverlap(span, mention))) overlappingMentions++
    }
    overlappedSpans += spans.filter((span) => mentions.some((mention) => spansOverlap(span, mention))).length
  }
  const [precision, recall] = [overlappingMentions / mentionCount, overlappedSpans / spanCount]
  return [
    {
      name: `${name}, span F1`,
      value: (2 * exactCount) / (mentionCount + spanCount),
      unit: '',
      note: `${spanCount} spans, exact bounds`,
    },
    { name: `${name}, span precision`, value: exactCount / mentionCount, unit: '' },
    { name: `${name}, span recall`, value: exactCount / spanCount, unit: '' },
    { name: `${name}, F1 of overlaps`, value: (2 * precision * recall) / (precision + recall), unit: '' },
  ]
}

function spansOverlap(a: Span, b: Span): boolean {
  return a.start < b.end && b.start < a.end
}
