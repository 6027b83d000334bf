import { inspect } from 'node:util'
import { type DestinationStream, type Logger, pino } from 'pino'

export type Log = Logger

// Secrets, tokens, signatures, email addresses and phone numbers are redacted from every line, as a last resort: code must not
// log them in the first place.
const SECRET_PATTERN = /\b(VFN_SK_|VSK_(?:TEST|LIVE)_|whsec_|vst_|vrt_|emp_|adm_|v1=)[\w+/=-]+/g
const URL_CREDENTIALS_PATTERN = /([a-z][a-z0-9+.-]*:\/\/)[^\s/@"]+@/gi
const EMAIL_ADDRESS_PATTERN = /[\w.!#$%&'*+/=?^`{|}~-]+@[\w-]+(?:\.[\w-]+)+/g
const PHONE_NUMBER_PATTERN = /\+\d[\d ()-]{7,17}\d/g

function redact(line: string): string {
  return line
    .replace(SECRET_PATTERN, '$1[redacted]')
    .replace(URL_CREDENTIALS_PATTERN, '$1[redacted]@')
    .replace(EMAIL_ADDRESS_PATTERN, '[email]')
    .replace(PHONE_NUMBER_PATTERN, '[phone]')
}

/** Logs only the fields that identify the error: drivers attach whole connections, including secrets, to their errors. */
function serializeError(error: unknown): object {
  if (!(error instanceof Error)) return { message: typeof error === 'string' ? error : inspect(error) }
  const { name, message, stack, code, cause } = error as Error & { code?: string }
  return {
    type: name,
    message,
    ...(code ? { code } : {}),
    stack,
    ...(cause === undefined ? {} : { cause: serializeError(cause) }),
  }
}

export function createLog(level: string, destination?: DestinationStream): Log {
  return pino(
    {
      level,
      base: undefined,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: serializeError },
      hooks: { streamWrite: redact },
    },
    destination ?? openStandardOutput(),
  )
}

/** Opens a stream to the standard output. Lines logged during a write are batched into the next write, and flushed when the process exits. */
function openStandardOutput(): DestinationStream {
  const output = pino.destination({ dest: 1, sync: false })
  output.on('error', () => {}) // the reader closed the pipe; keep serving
  process.once('exit', () => {
    try {
      output.flushSync()
    } catch {
      // Nothing was written yet, or the reader closed the pipe.
    }
  })
  return output
}
