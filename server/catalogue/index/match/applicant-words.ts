import { applicantWordPairs, applicantWords, applicantWordsAlone } from '../lexicon/lexicon.ts'

/** Whether a word describes the applicant ("fresher") or is a number. A phrase that has only such words names no skill. */
export function isApplicantWord(word: string): boolean {
  return applicantWords.has(word) || applicantWordsAlone.has(word) || /^\d+k?$/.test(word)
}

/** Removes the words and pairs of words that describe the applicant: "hardworking electrician" becomes "electrician". */
export function stripApplicantWords(words: string[]): string[] {
  return words.filter(
    (word, i) =>
      !applicantWords.has(word) &&
      !applicantWordPairs.has(`${words[i - 1]} ${word}`) &&
      !applicantWordPairs.has(`${word} ${words[i + 1]}`),
  )
}
