import assert from 'node:assert/strict'
import { test } from 'node:test'
import { breakLinks, containsLink } from './links.ts'
import { stripInvisible } from './strip-invisible.ts'

const LINKS = [
  'https://evil.example/unlock',
  'Asha http://x',
  'ftp://a',
  'www.evil',
  'WWW.Evil.Com',
  'Your account at bank.example is locked',
  'sign in at evil.com',
  'EVIL.COM',
  'evil.com.',
  '..evil.com',
  '(evil.com)',
  'evil.co.in',
  'login-bank.in now',
  'evil.xyz',
  'evil.zone/login',
  'Evil.Zone/login',
  'sub.domain.evil.shop',
  't.me/evil',
  'x.com',
  'write to evil@evil.org',
  'evil．com',
  'evil。com',
  'evil\u200d.com',
  'evil\u200b.com',
  'evil.c\ufe0fom',
  'evil.\u034fcom',
  'evil.co\u{e0100}m',
  'ht\u180btps://evil',
  'evil.com_',
  '_evil.com-',
  'ht\u00adtps:\u2060//evil',
  'https：／／evil',
  'ｅｖｉｌ．ｃｏｍ',
  'evil․com',
  'http:evil',
  'mailto:a@b',
  'javascript:alert(1)',
  'xn--bcher-kva.xn--p1ai',
  'बैंक.भारत',
  '银行.在线',
  'банк.москва',
  '10.0.0.1/login',
  'ASP.NET/../evil.com',
  'ASP.NET/login',
  'evil.tech',
  'evil.engineer',
]

const NAMES = [
  'Asha Rao',
  'Node.js',
  'node.js developer',
  'Vue.js/React.js',
  'B.Tech',
  'b.tech',
  'B.Tech/M.Tech',
  'B.Com (Hons.)',
  'M.Com.',
  'M.Ed',
  'Ph.D',
  'B.Sc. Nursing',
  "St. Xavier's",
  "St.Xavier's College",
  'A.P.J. Abdul Kalam',
  'Dr.A.P.J.Abdul Kalam',
  'K.V.S.Rao',
  'Metro Pvt.Ltd',
  'METRO PVT.LTD.',
  'Sr.Engineer',
  'Jr.Engineer (Civil)',
  'ASP.NET developer',
  'asp.net',
  'Socket.IO',
  'H.No.5',
  'U.S.A.',
  'e.g. welding',
  'No.1 Services',
  'Section 2.in part',
  'डॉ. राम',
  'डॉ.राम',
  '24/7 support',
  'a/b',
  'C:\\',
  'AutoCAD 2.0',
  '...',
  'www',
]

test('web addresses and domain names are found in any spelling', () => {
  for (const text of LINKS) assert.ok(containsLink(text), text)
})

test('names with dots are not taken for links', () => {
  for (const text of NAMES) assert.ok(!containsLink(text), text)
})

test('a broken link is no link, and other texts are unchanged', () => {
  for (const text of LINKS) {
    const brokenText = breakLinks(stripInvisible(text))
    assert.ok(!containsLink(brokenText), `${text} → ${brokenText}`)
  }
  assert.equal(breakLinks('sign in at https://evil.com/unlock now'), 'sign in at evil. com/unlock now')
  assert.equal(breakLinks('http://http://://x'), 'x')
  assert.equal(breakLinks('..evil.com'), '..evil. com')
  assert.equal(breakLinks('Sr.Engineer'), 'Sr. Engineer')
  for (const text of NAMES.filter((name) => !name.includes('Engineer') && !name.startsWith('Section')))
    assert.equal(breakLinks(text), text)
})

test('long texts are processed in linear time', () => {
  for (const text of ['a.', 'www.', '://', '1.', 'a', 'a.b@', '. ']) {
    containsLink(text.repeat(50_000))
    breakLinks(text.repeat(50_000))
  }
})
