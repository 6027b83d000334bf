import { applicantWordPairs, applicantWords, applicantWordsAlone } from '../lexicon/lexicon.ts'

/** Whether a word by itself describes the applicant, or is a number, and so names no skill. */
export function isApplicantWord(word: string): boolean {
  return applicantWords.has(word) || applicantWordsAlone.has(word) || /^\d+k?$/.test(word)
}

/** Returns the words of a phrase without those that only describe the applicant. */
export function stripApplicantWords(words: string[]): string[] {
  return words.filter(
    (word, i) =>
      !applicantWords.has(word) &&
      !applicantWordPairs.has(`${words[i - 1]} ${word}`) &&
      !applicantWordPairs.has(`${word} ${words[i + 1]}`),
  )
}
