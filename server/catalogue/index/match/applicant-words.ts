import { applicantWordPairs, applicantWords, applicantWordsAlone } from '../lexicon/lexicon.ts'

/** Whether a word does not name a skill if the phrase has nothing else: it describes the applicant ("fresher") or is a number. */
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
