import { isDevanagari } from '../text/phonetics.ts'
import { runInSlices, runSync, type SlicedTask } from '../text/time-slicing.ts'
import { Tokens } from '../text/tokens.ts'
import type { ClauseLink, ClauseLinks } from './clause-links.ts'
import type { LabelMention, LabelMentionFinder } from './label-mentions.ts'
import { clauseProbability, labelProbability, MentionContext, type SkillGroups } from './mention-probability.ts'
import { isNegated } from './negation.ts'
import { isPreferred, type Requirement } from './requirement-words.ts'
import { KNOWLEDGE_SPAN, type SpanTagger, type TaggedSpan } from './spans/span-tagger.ts'
import { markLabels, readGapKinds } from './spans/token-features.ts'

/**
 * Extracts the skills that a text mentions, in two ways:
 *
 * 1. Labels: the names and aliases of the catalogue that the text contains (label-mentions.ts). Their scores depend on the kind of
 *    label, and for built-in skills also on the other skills in the text (mention-probability.ts). A trained tagger (spans/) rejects
 *    labels that are not used as a skill.
 * 2. Clauses: the tagger also finds descriptions of skills without their names, such as "coordinate the work of developers". `match`
 *    finds the skills that a clause may mean. All of them have the offsets of the clause, and the score of the best one is the highest.
 *
 * The score of a skill is that of its best mention, and each further mention raises it a little.
 */

export interface Mention {
  /** UTF-16 offsets into the original text. */
  start: number
  end: number
  text: string
}

/** A skill that the text mentions. */
export interface ExtractedEntry {
  /** Index of the skill in the sorted entries (labels.ts). */
  entryIndex: number
  score: number
  /** The strongest requirement of all mentions. */
  requirement: Requirement
  mentions: Mention[]
}

/** Each further mention of a skill multiplies the doubt (1 - score) by this factor. */
const DOUBT_FACTOR_PER_MENTION = 0.8
/** Further mentions do not raise a score below this one. */
const MIN_SCORE_TO_RAISE = 0.25
/**
 * A label of an imported taxonomy with a lower margin (span-tagger.ts) is not a mention, because such labels include many general
 * words. Labels of the built-in catalogue were written for job advertisements. They are always mentions if no taxonomy is imported, and
 * need a lower margin otherwise. The margins of words in Devanagari say nothing, because the tagger was not trained with such words.
 */
const MIN_IMPORTED_MARGIN = -1
const MIN_BUILT_IN_MARGIN = -2
/** A clause is a mention of a built-in skill only with this probability. */
const MIN_BUILT_IN_PROBABILITY = 0.3
/** If a taxonomy is imported, or the text mentions few other skills, it must have several words, contain no label, and its best match must have this score. */
const MIN_BUILT_IN_LINK_SCORE = 0.65
/** Factor of the score of a matched clause: the text may describe the employer, and the clause more than the skill. */
const CLAUSE_FACTOR = 0.75
/** Maximum number of skills for a clause, and the minimum score of imported skills after the first. */
const MAX_SKILLS_PER_CLAUSE = 5
const MIN_FURTHER_LINK_SCORE = 0.02
/** Factor by which the score of a negated clause is multiplied. */
const NEGATED_FACTOR = 0.1
/** Maximum number of clauses of a text that are matched; the clauses of earlier texts are in a cache and do not count. */
const MAX_MATCHED_CLAUSES = 24
/** Longer clauses are not matched, because they describe several skills. */
const MAX_CLAUSE_WORDS = 16

const REQUIREMENT_ORDER: readonly Requirement[] = ['not_required', 'preferred', 'required']

type AddMention = (entryIndex: number, score: number, start: number, end: number, requirement: Requirement) => void

/** A tagged span with its offsets in the text. */
interface TextSpan extends TaggedSpan {
  start: number
  end: number
}

/** A clause that is matched with the catalogue. */
interface Clause {
  text: string
  start: number
  end: number
  wordCount: number
  /** Whether the clause is a label of the catalogue. */
  isLabel: boolean
  /** The highest score of the labels of built-in skills in the clause. */
  labelScore: number
  isNegated: boolean
  requirement: Requirement
}

export interface ExtractorParts {
  labelMentions: LabelMentionFinder
  tagger: SpanTagger
  clauseLinks: ClauseLinks
  /** By entry index: 1 for a skill of an imported taxonomy. */
  isOrdinaryImport: Uint8Array
  groups: SkillGroups
}

/** A mention of a built-in skill as an example for training: the entry index and the features of its probability. */
export interface MentionExample {
  kind: 'label' | 'clause'
  entryIndex: number
  features: number[]
}

type ExtractedSkills = Map<number, ExtractedEntry>

export class Extractor {
  private readonly parts: ExtractorParts
  private readonly hasImports: boolean
  private readonly tokens = new Tokens()
  private marks = new Uint8Array(0)
  private gapKinds = new Uint8Array(0)
  /** Receives the features of each mention of a built-in skill while `examplesIn` runs. */
  private recordExample: ((example: MentionExample) => void) | undefined

  constructor(parts: ExtractorParts) {
    this.parts = parts
    this.hasImports = parts.isOrdinaryImport.includes(1)
  }

  /** Returns up to `limit` skills that the text mentions, in descending order of score. */
  extract(text: string, limit: number): ExtractedEntry[] {
    return runSync(this.extractSliced(text, limit))
  }

  /** The same in time slices of `sliceMs` milliseconds, because matching the clauses of a long text takes long. */
  extractInSlices(text: string, limit: number, sliceMs?: number): Promise<ExtractedEntry[]> {
    return runInSlices(this.extractSliced(text, limit), sliceMs)
  }

  private *extractSliced(text: string, limit: number): SlicedTask<ExtractedEntry[]> {
    const skills: ExtractedSkills = new Map()
    const addMention = mentionAdder(text, skills)
    const { clauses, context } = this.addLabelsAndFindClauses(text, addMention)
    // Other texts may be extracted at each yield. From here on, the words and tags of this text are no longer available.
    let matchedClauses = 0
    for (const clause of clauses) {
      let links = this.parts.clauseLinks.cached(clause.text)
      if (!links) {
        if (matchedClauses++ >= MAX_MATCHED_CLAUSES) continue
        links = this.parts.clauseLinks.find(clause.text)
        yield
      }
      this.addClause(clause, links, context, skills, addMention)
    }
    return bestSkills(skills, limit)
  }

  private addLabelsAndFindClauses(
    text: string,
    addMention: AddMention,
  ): { clauses: Clause[]; context: MentionContext } {
    const labelMentions = this.parts.labelMentions.find(text, this.tokens.read(text))
    const spans = this.tagSpans(text, labelMentions)
    const context = new MentionContext(labelMentions, this.parts.groups)
    const labelScores = this.addLabels(text, labelMentions, spans, context, addMention)
    return { clauses: this.findClauses(text, labelMentions, labelScores, spans), context }
  }

  /** Returns the spans that the tagger finds, in the order of the text. */
  private tagSpans(text: string, labelMentions: readonly LabelMention[]): TextSpan[] {
    const { tokens } = this
    if (this.marks.length <= tokens.count) {
      this.marks = new Uint8Array(tokens.count * 2 + 1)
      this.gapKinds = new Uint8Array(tokens.count * 2 + 1)
    }
    markLabels(labelMentions, tokens.count, this.marks)
    readGapKinds(text, tokens, this.gapKinds)
    return this.parts.tagger
      .tag(tokens, this.marks, this.gapKinds)
      .map((span) => ({ ...span, start: tokens.starts[span.from]!, end: tokens.ends[span.to - 1]! }))
      .sort((a, b) => a.start - b.start || a.end - b.end)
  }

  /** Adds the labels. Returns the scores of those of built-in skills, by index in `labelMentions`; 0 for the others. */
  private addLabels(
    text: string,
    labelMentions: readonly LabelMention[],
    spans: readonly TextSpan[],
    context: MentionContext,
    addMention: AddMention,
  ): Float64Array {
    const { tagger, isOrdinaryImport } = this.parts
    const scores = new Float64Array(labelMentions.length)
    let firstSpan = 0
    for (let i = 0; i < labelMentions.length; i++) {
      const mention = labelMentions[i]!
      const { entryIndex, from, to } = mention
      const isBuiltIn = !isOrdinaryImport[entryIndex]
      const hasMargin = !isBuiltIn || !isDevanagari(text[mention.start]!)
      const margin = () => (hasMargin ? tagger.spanMargin(KNOWLEDGE_SPAN, from, to) : 0)
      while (firstSpan < spans.length && spans[firstSpan]!.end <= mention.start) firstSpan++
      let { start, end } = mention
      let isInSpan = false
      let shortestSpan: TextSpan | undefined
      for (let at = firstSpan; at < spans.length && spans[at]!.start < mention.end; at++) {
        const span = spans[at]!
        if (span.end <= mention.start) continue
        isInSpan = true
        if (span.start > mention.start || span.end < mention.end) continue
        if (!shortestSpan || span.end - span.start < shortestSpan.end - shortestSpan.start) shortestSpan = span
      }
      // The mention of an imported label is the name or clause that contains it.
      if (!isBuiltIn && shortestSpan) ({ start, end } = shortestSpan)
      if (
        this.hasImports &&
        !isInSpan &&
        !mention.isWholeText &&
        hasMargin &&
        margin() < (isBuiltIn ? MIN_BUILT_IN_MARGIN : MIN_IMPORTED_MARGIN)
      )
        continue
      let { score } = mention
      const features = isBuiltIn ? context.labelFeatures(mention, margin) : undefined
      if (features) {
        this.recordExample?.({ kind: 'label', entryIndex, features })
        score = labelProbability(features)
      }
      if (isBuiltIn) scores[i] = score
      addMention(entryIndex, score, start, end, this.requirementOf(text, from, to, mention.isNegated))
    }
    return scores
  }

  /** Returns the clauses that can be matched. */
  private findClauses(
    text: string,
    labelMentions: readonly LabelMention[],
    labelScores: Float64Array,
    spans: readonly TextSpan[],
  ): Clause[] {
    const clauses: Clause[] = []
    let firstMention = 0
    for (const { from, to, start, end } of spans) {
      while (firstMention < labelMentions.length && labelMentions[firstMention]!.end <= start) firstMention++
      const isLabel = labelMentions[firstMention]?.start === start && labelMentions[firstMention]!.end === end
      if ((isLabel && !this.hasImports) || to - from > MAX_CLAUSE_WORDS) continue
      const clause = text.slice(start, end)
      let labelScore = 0
      for (let i = firstMention; i < labelMentions.length && labelMentions[i]!.start < end; i++)
        labelScore = Math.max(labelScore, labelScores[i]!)
      const isNegatedClause = isNegated(text, this.tokens, from, to)
      const requirement = this.requirementOf(text, from, to, isNegatedClause)
      const wordCount = to - from
      clauses.push({
        text: clause,
        start,
        end,
        wordCount,
        isLabel,
        labelScore,
        isNegated: isNegatedClause,
        requirement,
      })
    }
    return clauses
  }

  /** Adds the skills that a clause may mean. A clause that is a label of the catalogue can only mean further, imported skills. */
  private addClause(
    { start, end, wordCount, isLabel, labelScore, isNegated, requirement }: Clause,
    links: readonly ClauseLink[],
    context: MentionContext,
    skills: ExtractedSkills,
    addMention: AddMention,
  ): void {
    let skillCount = isLabel ? 1 : 0
    const linkCount = this.hasImports ? links.length : Math.min(links.length, MAX_SKILLS_PER_CLAUSE)
    for (let rank = 0; rank < linkCount; rank++) {
      const { entryIndex, score } = links[rank]!
      const mentions = skills.get(entryIndex)?.mentions
      if (mentions && overlapsMention(mentions, start, end)) continue
      let mentionScore = score * CLAUSE_FACTOR
      if (this.parts.isOrdinaryImport[entryIndex]) {
        const isFurther = skillCount > 0
        if (isFurther && (skillCount >= MAX_SKILLS_PER_CLAUSE || score < MIN_FURTHER_LINK_SCORE)) continue
        skillCount++
      } else {
        if (isLabel) continue
        const features = this.hasImports ? undefined : context.clauseFeatures(entryIndex, score, rank, labelScore)
        if (features) {
          this.recordExample?.({ kind: 'clause', entryIndex, features: [...features] })
          mentionScore = clauseProbability(features)
          if (mentionScore < MIN_BUILT_IN_PROBABILITY) continue
        } else if (rank > 0 || wordCount === 1 || labelScore > 0 || score < MIN_BUILT_IN_LINK_SCORE) continue
      }
      addMention(entryIndex, mentionScore * (isNegated ? NEGATED_FACTOR : 1), start, end, requirement)
    }
  }

  private requirementOf(text: string, from: number, to: number, isNegatedMention: boolean): Requirement {
    if (isNegatedMention) return 'not_required'
    return isPreferred(text, this.tokens, from, to) ? 'preferred' : 'required'
  }

  /** Returns the mentions of built-in skills in the text, with the features of their probabilities. Used to train mention-probability.ts. */
  examplesIn(text: string): MentionExample[] {
    const examples: MentionExample[] = []
    this.recordExample = (example) => examples.push(example)
    this.extract(text, 1)
    this.recordExample = undefined
    return examples
  }

  /** Returns the labels of the catalogue that the text contains, without the span tagger. Used to train the tagger. */
  labelsIn(text: string): LabelMention[] {
    return this.parts.labelMentions.find(text, this.tokens.read(text))
  }
}

/** Returns a function that adds a mention of a skill, unless an earlier mention of the skill overlaps it. */
function mentionAdder(text: string, skills: ExtractedSkills): AddMention {
  return (entryIndex, score, start, end, requirement) => {
    const skill = skills.get(entryIndex)
    if (!skill) {
      skills.set(entryIndex, { entryIndex, score, requirement, mentions: [mentionAt(text, start, end)] })
      return
    }
    skill.score = Math.max(skill.score, score)
    if (REQUIREMENT_ORDER.indexOf(requirement) > REQUIREMENT_ORDER.indexOf(skill.requirement))
      skill.requirement = requirement
    if (overlapsMention(skill.mentions, start, end)) return
    skill.mentions.push(mentionAt(text, start, end))
    if (skill.mentions.at(-2)!.start > start) skill.mentions.sort((a, b) => a.start - b.start)
  }
}

/** Raises the scores of skills with several mentions. Returns the `limit` skills with the highest scores. */
function bestSkills(skills: ExtractedSkills, limit: number): ExtractedEntry[] {
  for (const skill of skills.values()) {
    const raisedScore = 1 - (1 - skill.score) * DOUBT_FACTOR_PER_MENTION ** (skill.mentions.length - 1)
    skill.score = Math.round((skill.score < MIN_SCORE_TO_RAISE ? skill.score : raisedScore) * 10_000) / 10_000
  }
  return [...skills.values()]
    .sort((a, b) => b.score - a.score || a.mentions[0]!.start - b.mentions[0]!.start)
    .slice(0, limit)
}

/** Returns the mention at these offsets. Includes the closing bracket after it, or after one space, if it contains the opening one. */
function mentionAt(text: string, start: number, end: number): Mention {
  const mentionText = text.slice(start, end)
  const bracket = text[end] === ' ' ? end + 1 : end
  if (text[bracket] !== ')' || mentionText.lastIndexOf('(') <= mentionText.lastIndexOf(')'))
    return { start, end, text: mentionText }
  return { start, end: bracket + 1, text: text.slice(start, bracket + 1) }
}

/** Whether the offsets overlap one of the mentions. Labels come in the order of the text, so usually only the last one is near. */
function overlapsMention(mentions: readonly Mention[], start: number, end: number): boolean {
  for (let i = mentions.length - 1; i >= 0; i--) {
    if (mentions[i]!.start < end && start < mentions[i]!.end) return true
    if (mentions[i]!.end <= start) return false
  }
  return false
}
