import { Type } from 'typebox'
import { named } from '../platform/http/named-schemas.ts'
import { NOT_BLANK_PATTERN } from '../platform/http/validation.ts'
import { MAX_ADVANCE_DAYS, testClockStatuses } from './test-clocks.ts'

const closed = { additionalProperties: false }
const TEST_CLOCK_ID_PATTERN = '^TC_[A-Z0-9]{10,40}$'

/** The ID of a test clock in the body of a request that creates an object. */
export const TestClockId = Type.String({
  pattern: TEST_CLOCK_ID_PATTERN,
  description: 'TEST mode only: the ID of the test clock, `TC_…`, whose time applies instead of real time.',
  examples: ['TC_01KA6Q3V8ZJ5T4M2N7R9W0X1Y2'],
})

/** The test clock of an object in responses. Objects without one do not have the field. */
export const attachedTestClock = Type.Optional(
  Type.String({ description: 'The ID of the test clock whose time applies. Absent without one.' }),
)

export const TestClockInput = named(
  'TestClockInput',
  Type.Object(
    {
      name: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 120,
          pattern: NOT_BLANK_PATTERN,
          description: 'Your name for the clock.',
        }),
      ),
      starts_at: Type.Optional(
        Type.String({
          maxLength: 40,
          description:
            'The time that the clock shows at first: ISO 8601 with a time zone, at most five years before or after the current time. Default: now.',
          examples: ['2030-01-31T09:00:00Z'],
        }),
      ),
    },
    closed,
  ),
)

export const AdvanceInput = named(
  'TestClockAdvanceInput',
  Type.Object(
    {
      to: Type.Optional(
        Type.String({
          maxLength: 40,
          description: `The new time: ISO 8601 with a time zone, after the time of the clock and at most ${MAX_ADVANCE_DAYS} days later. Send either \`to\` or \`seconds\`.`,
          examples: ['2030-03-02T09:00:00Z'],
        }),
      ),
      seconds: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: MAX_ADVANCE_DAYS * 86_400,
          description: `Number of seconds to advance the clock by, at most ${MAX_ADVANCE_DAYS} days.`,
          examples: [86_400],
        }),
      ),
    },
    closed,
  ),
)

export const TestClockParams = Type.Object({
  test_clock_id: Type.String({ pattern: TEST_CLOCK_ID_PATTERN, description: 'The ID of the test clock, `TC_…`.' }),
})

const timestamp = (description: string) => Type.String({ format: 'date-time', description })

export const TestClockRecord = named(
  'TestClock',
  Type.Object({
    test_clock_id: Type.String({ description: 'The ID of the test clock, `TC_…`.' }),
    name: Type.Union([Type.String(), Type.Null()], { description: 'Your name for the clock, or null.' }),
    status: Type.Enum([...testClockStatuses], {
      description:
        '`ready`: the clock stands still. `advancing`: it moves to `advancing_to`. `archived`: it can no longer be advanced.',
    }),
    starts_at: timestamp('The time that the clock showed at first.'),
    now: timestamp('The time of the clock.'),
    advancing_to: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
      description: 'The end of the advance that is in progress; null if there is none.',
    }),
    created_at: timestamp('Creation time of the clock, in real time.'),
    updated_at: timestamp('Time of the last change of the clock, in real time.'),
  }),
)
