import type { AnnotatedPhrase } from '../../bench/support/annotated-phrases.ts'
import { randomNumbers } from '../../bench/support/skill-catalogues.ts'
import { matchProbability, probabilityFeatures } from '../../server/catalogue/index/match/calibration.ts'
import { type Candidate, isExact } from '../../server/catalogue/index/match/candidate.ts'
import { rankCandidates, rerankingFeatures } from '../../server/catalogue/index/match/reranker.ts'
import type { SkillIndex } from '../../server/catalogue/index/skill-index.ts'
import { fitProbability, fitRanking } from './linear-models.ts'

const RANKING_L2 = 0.02
const PROBABILITY_L2 = 0.01
const FOLD_COUNT = 5
const MATCHES_PER_PHRASE = 5

interface PhraseCandidates {
  candidates: Candidate[]
  isCorrect: (candidate: Candidate) => boolean
  fold: number
}

export interface FittedWeights {
  ranking: number[]
  probability: number[]
}

/** The results of a phrase with weights that were fitted without its sentence. */
interface CrossValidatedResult {
  /** Position of the first correct skill, from 0; Infinity if it is not found. */
  rank: number
  /** The first five matches. */
  predictions: { score: number; correct: boolean }[]
}

/** Fits the weights to all phrases. The probability is fitted to rankings of phrases that were not used for the ranking. */
export function fitWeights(index: SkillIndex, annotatedPhrases: readonly AnnotatedPhrase[]): FittedWeights {
  return fit(findCandidates(index, annotatedPhrases))
}

/** Ranks each phrase with weights that were fitted to the other folds. A phrase and its sentence are in the same fold. */
export function crossValidate(index: SkillIndex, annotatedPhrases: readonly AnnotatedPhrase[]): CrossValidatedResult[] {
  const phrases = findCandidates(index, annotatedPhrases)
  return foldsOf(phrases).flatMap(({ training, tested }) => {
    const { ranking, probability } = fit(training)
    return tested.map(({ candidates, isCorrect }) => {
      const ranked = rankCandidates(candidates, ranking)
      const correctAt = ranked.findIndex(({ candidate }) => isCorrect(candidate))
      let score = 1
      return {
        rank: correctAt < 0 ? Number.POSITIVE_INFINITY : correctAt,
        predictions: ranked.slice(0, MATCHES_PER_PHRASE).map((match, rank) => {
          score = Math.min(score, matchProbability(match, ranked[rank === 0 ? 1 : 0], rank, probability))
          return { score, correct: isCorrect(match.candidate) }
        }),
      }
    })
  })
}

function findCandidates(index: SkillIndex, annotatedPhrases: readonly AnnotatedPhrase[]): PhraseCandidates[] {
  const random = randomNumbers(1)
  const foldBySentence = new Map<string, number>()
  return annotatedPhrases.map(({ sentence, phrase, expectedNumbers }) => {
    if (!foldBySentence.has(sentence)) foldBySentence.set(sentence, Math.floor(random() * FOLD_COUNT))
    return {
      candidates: index.matchCandidates(phrase),
      isCorrect: ({ entryIndex }) => expectedNumbers.includes(index.numberOf(entryIndex)),
      fold: foldBySentence.get(sentence)!,
    }
  })
}

function foldsOf(phrases: readonly PhraseCandidates[]) {
  return Array.from({ length: FOLD_COUNT }, (_, fold) => ({
    training: phrases.filter((phrase) => phrase.fold !== fold),
    tested: phrases.filter((phrase) => phrase.fold === fold),
  }))
}

function fit(phrases: readonly PhraseCandidates[]): FittedWeights {
  const examples = foldsOf(phrases).flatMap(({ training, tested }) => examplesOf(tested, fitRankingOf(training)))
  const probability = fitProbability(
    examples.map(({ features }) => features),
    examples.map(({ isCorrect }) => isCorrect),
    PROBABILITY_L2,
  )
  return { ranking: fitRankingOf(phrases), probability }
}

/** Fits the ranking of the candidates that are not exact matches. */
function fitRankingOf(phrases: readonly PhraseCandidates[]): number[] {
  const lists = phrases
    .filter(({ candidates, isCorrect }) => !candidates.some((candidate) => isExact(candidate) && isCorrect(candidate)))
    .map(({ candidates, isCorrect }) => {
      const sorted = candidates.filter((candidate) => !isExact(candidate))
      return { features: sorted.map(rerankingFeatures), isCorrect: sorted.map(isCorrect) }
    })
  return fitRanking(lists, RANKING_L2)
}

/** Returns the first matches of phrases that are not exact as examples of the probability. */
function examplesOf(phrases: readonly PhraseCandidates[], weights: readonly number[]) {
  return phrases.flatMap(({ candidates, isCorrect }) => {
    const ranked = rankCandidates(candidates, weights)
    return ranked.slice(0, MATCHES_PER_PHRASE).flatMap((match, rank) => {
      if (isExact(match.candidate)) return []
      const features = probabilityFeatures(match, ranked[rank === 0 ? 1 : 0], rank)
      return [{ features, isCorrect: isCorrect(match.candidate) }]
    })
  })
}
