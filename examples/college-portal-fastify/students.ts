import type { VerificationSessionInput, VerificationStatus } from '@attestry/sdk'

export interface Student {
  id: string
  name: string
  email: string
  projects: { id: string; name: string; role: string }[]
  verification?: { id: string; status: VerificationStatus; version: number; skills: string[] }
}

/** The students of the college. A real portal reads them from its database. */
export const students: Student[] = [
  {
    id: 'asha',
    name: 'Asha Rao',
    email: 'asha@college.example',
    projects: [{ id: 'hall', name: 'School hall', role: 'Mason' }],
  },
  {
    id: 'bala',
    name: 'Bala Iyer',
    email: 'bala@college.example',
    projects: [{ id: 'canteen', name: 'Canteen', role: 'Mason' }],
  },
  {
    id: 'chitra',
    name: 'Chitra Nair',
    email: 'chitra@college.example',
    projects: [{ id: 'library', name: 'Library', role: 'Mason' }],
  },
]

/** Scripts of TEST mode: the student, and the reviewer if there is one, act automatically. */
export const sandboxScripts: Record<string, NonNullable<VerificationSessionInput['testScript']>> = {
  passes: { student: { skills: ['sk_1001'], method: 'assessment' } },
  fails: {
    student: {
      skills: ['sk_1001'],
      method: 'assessment',
      attempts: [{ answers: ['wrong'] }, { answers: ['wrong'] }, { answers: ['wrong'] }],
    },
  },
  endorsed: { student: { skills: ['sk_1001'], method: 'human' }, reviewer: { response: 'endorse' } },
  declined: { student: { skills: ['sk_1001'], method: 'human' }, reviewer: { response: 'decline' } },
}
