import { inspect } from 'node:util'
import { type DestinationStream, type Logger, pino } from 'pino'

export type Log = Logger

// What must never reach a log, whoever put it into a message: our own secrets and tokens, signatures, mail addresses, phone
// numbers. The last resort behind not logging such things in the first place.
const SECRETS = /\b(VFN_SK_|VSK_(?:TEST|LIVE)_|whsec_|vst_|vrt_|adm_|v1=)[\w+/=-]+/g
const CREDENTIALS_IN_URL = /([a-z][a-z0-9+.-]*:\/\/)[^\s/@"]+@/gi
const MAIL_ADDRESSES = /[\w.!#$%&'*+/=?^`{|}~-]+@[\w-]+(?:\.[\w-]+)+/g
const PHONE_NUMBERS = /\+\d[\d ()-]{7,17}\d/g

export function redact(line: string): string {
  return line
    .replace(SECRETS, '$1[redacted]')
    .replace(CREDENTIALS_IN_URL, '$1[redacted]@')
    .replace(MAIL_ADDRESSES, '[mail]')
    .replace(PHONE_NUMBERS, '[phone]')
}

/** Drivers hang whole connections, with their secrets, on their errors: only what tells the fault is logged. */
function faultOf(error: unknown): object {
  if (!(error instanceof Error)) return { message: typeof error === 'string' ? error : inspect(error) }
  const { name, message, stack, code, cause } = error as Error & { code?: string }
  return {
    type: name,
    message,
    ...(code ? { code } : {}),
    stack,
    ...(cause === undefined ? {} : { cause: faultOf(cause) }),
  }
}

export function createLog(level: string, destination?: DestinationStream): Log {
  return pino(
    {
      level,
      base: undefined,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: faultOf },
      hooks: { streamWrite: redact },
    },
    destination ?? standardOutput(),
  )
}

/** Lines that come while one is being written go out together with the next write; none is lost when the process ends. */
function standardOutput(): DestinationStream {
  const output = pino.destination({ dest: 1, sync: false })
  output.on('error', () => {}) // a reader that went away is no reason to stop serving
  process.once('exit', () => {
    try {
      output.flushSync()
    } catch {
      // Nothing was written yet, or nobody reads any more.
    }
  })
  return output
}
