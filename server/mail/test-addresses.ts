import type { Mode } from '../access/keys.ts'
import { domainOf, mailboxOf } from '../verification/reviews/mailboxes.ts'

/** The domain of the simulated students and reviewers of TEST mode. No email can be delivered to it: `.example` is reserved (RFC 2606). */
const TEST_DOMAIN = 'test.attestry.example'

/** Students whose questions have the right option first. The names say which answers the integrator submits. */
const testStudents = ['pass', 'fail', 'inconclusive'] as const
/** Reviewers who respond automatically. */
const testReviewers = ['endorse', 'refuse', 'silent'] as const
export type TestReviewer = (typeof testReviewers)[number]

type TestRole = 'student' | 'reviewer'
const namesByRole: Record<TestRole, readonly string[]> = { student: testStudents, reviewer: testReviewers }

/** Returns true for every address of the test domain. */
export function isTestAddress(address: string): boolean {
  return domainOf(address) === TEST_DOMAIN
}

export function isTestStudent(address: string): boolean {
  return findName(testStudents, address) !== undefined
}

/** Returns the behaviour of a test reviewer; undefined for any other address. */
export function testReviewerOf(address: string): TestReviewer | undefined {
  return findName(testReviewers, address)
}

/**
 * Returns why an address of the test domain cannot be used; undefined for a valid one, and for addresses of other domains. Students and
 * reviewers have different addresses, so that no organisation can connect them to a ring that all others would see.
 */
export function testAddressError(address: string, role: TestRole, mode: Mode): string | undefined {
  if (!isTestAddress(address)) return undefined
  if (mode !== 'test')
    return `addresses of ${TEST_DOMAIN} are for TEST mode only; send the address of a real ${role}, or use a TEST key`
  const names = namesByRole[role]
  if (findName(names, address) !== undefined) return undefined
  return `${address} is not a test ${role}; use ${formatAddresses(names)}, or an address of another domain`
}

function findName<Name extends string>(names: readonly Name[], address: string): Name | undefined {
  const mailbox = mailboxOf(address) // without a tag, as in `pass+17@test.attestry.example`
  return names.find((name) => mailbox === `${name}@${TEST_DOMAIN}`)
}

function formatAddresses(names: readonly string[]): string {
  const addresses = names.map((name) => `${name}@${TEST_DOMAIN}`)
  return `${addresses.slice(0, -1).join(', ')} or ${addresses.at(-1)}`
}
