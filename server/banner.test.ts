import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startupBanner } from './banner.ts'
import { readConfig } from './config.ts'

function bannerOf(env: Record<string, string>, publicUrl: string): string {
  const config = { ...readConfig(env), publicUrl }
  const options = { isTerminal: false, hasPublicUrl: env.PUBLIC_URL !== undefined }
  return startupBanner({ config }, undefined, options)
}

test('the banner of a server on all network interfaces says so, and that links need PUBLIC_URL', () => {
  const banner = bannerOf({ HOST: '0.0.0.0' }, 'http://localhost:8080')
  assert.match(banner, /running at http:\/\/localhost:8080\n {2}It listens on all network interfaces/)
  assert.match(banner, /Links in emails work on this machine only.* set PUBLIC_URL/)
  assert.ok(!banner.includes('0.0.0.0'))

  const publicUrl = 'https://verify.example.com'
  const publicBanner = bannerOf({ HOST: '::', PUBLIC_URL: publicUrl }, publicUrl)
  assert.match(publicBanner, /running at https:\/\/verify\.example\.com\n {2}It listens on all network interfaces/)
  assert.ok(!publicBanner.includes('Links in emails'))

  assert.ok(!bannerOf({}, 'http://127.0.0.1:8080').includes('network interfaces'))
})
