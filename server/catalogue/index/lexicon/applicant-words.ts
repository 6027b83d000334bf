/**
 * What advertisements ask of the person and not of their work: "immediate joiner", "female only", "honest". They name no skill and
 * belong to none.
 */
const OF_THE_PERSON = `
hardworking hardworker immediately joiner joiners female females male males gents married unmarried fresher freshers applicant applicants
honest honesty sincere sincerity loyal obedient undergraduate graduate graduates mehnati imandar मेहनती ईमानदार
`
const PAIRS_OF_THE_PERSON: ReadonlySet<string> = new Set([
  'hard working',
  'self motivated',
  'full time',
  'part time',
  '10th pass',
  '12th pass',
])

/** These are of the person where nothing else is said: "good attitude", "ready to relocate". */
const WITH_OTHERS = `
immediate joining ladies boys girls apply local attitude personality pleasing good nice decent disciplined dedicated ready
relocate relocation willing pass passed 8th 10th 12th graduation degree salary ctc lpa age years year yrs minimum maximum below above
physically fit presentable night day shift shifts rotational weekend weekends sunday time
`

const ofThePerson: ReadonlySet<string> = new Set(wordsIn(OF_THE_PERSON))
const withOthers: ReadonlySet<string> = new Set([...ofThePerson, ...wordsIn(WITH_OTHERS)])

/** Whether a word by itself asks for no skill: it is said of the person, or a number. */
export function isOfThePerson(word: string): boolean {
  return withOthers.has(word) || /^\d+k?$/.test(word)
}

/** The words of a phrase without those that are only said of the person. */
export function withoutThePerson(words: string[]): string[] {
  return words.filter(
    (word, i) =>
      !ofThePerson.has(word) &&
      !PAIRS_OF_THE_PERSON.has(`${words[i - 1]} ${word}`) &&
      !PAIRS_OF_THE_PERSON.has(`${word} ${words[i + 1]}`),
  )
}

function wordsIn(text: string): string[] {
  return text.trim().split(/\s+/)
}
