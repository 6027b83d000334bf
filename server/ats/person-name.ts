const MAX_NAME_LENGTH = 200

/** Returns the name that messages address the candidate by. Profiles may have only one of the two names. */
export function personName(firstName: string, lastName: string): string {
  const name = [firstName, lastName]
    .map((part) => part.replace(/[\p{C}\s]+/gu, ' ').trim())
    .filter(Boolean)
    .join(' ')
  return [...name].slice(0, MAX_NAME_LENGTH).join('') || 'Candidate'
}
