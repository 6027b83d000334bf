/**
 * Fits the weights of `server/catalogue/index/match/reranker.ts` and `calibration.ts` to the phrases of job advertisements in
 * `../shared/data`, and prints them with the results of a cross-validation. See training/README.md.
 *
 *   node training/vectors/rerank.ts
 */
import { readPhrases } from '../../bench/support/annotated-phrases.ts'
import { escoSkills } from '../../bench/support/skill-catalogues.ts'
import { buildSkillIndexSync } from '../../server/catalogue/index/skill-index.ts'
import { crossValidate, fitWeights } from './ranking-examples.ts'

const skills = escoSkills()
const index = buildSkillIndexSync(skills)
const phrases = readPhrases(skills)
const { ranking, probability } = fitWeights(index, phrases)
const print = (name: string, weights: readonly number[]) =>
  console.log(`${name}: [${weights.map((weight) => Number(weight.toFixed(3))).join(', ')}]`)
print('ranking', ranking)
print('probability', probability)
const results = crossValidate(index, phrases)
for (const limit of [1, 5]) {
  const hits = results.filter(({ rank }) => rank < limit).length
  console.log(`cross-validated hit@${limit}: ${(hits / results.length).toFixed(3)} of ${results.length} phrases`)
}
