/** Says why a server could not be reached, and what to check. */
export function describeConnectionError(baseUrl: string, error: unknown): string {
  const { name, code, message } = ((error as Error).cause ?? error) as Error & { code?: unknown }
  const { hostname, host } = new URL(baseUrl)
  const failure = `Connecting to ${baseUrl} failed`
  if (name === 'TimeoutError') return `${failure}: no response in time. Is the server running?`
  if (code === 'ECONNREFUSED') return `${failure}: no program is listening at ${host} (${code}). Is the server running?`
  if (code === 'ENOTFOUND')
    return `${failure}: the host ${hostname} was not found (${code}). Check the URL of the server.`
  if (code === 'ERR_SSL_WRONG_VERSION_NUMBER')
    return `${failure}: the server does not use HTTPS (${code}). Use a URL that starts with http://.`
  const reason = typeof code === 'string' ? code : message
  return `${failure}: ${reason}. Check the URL of the server, and that the server is running.`
}
