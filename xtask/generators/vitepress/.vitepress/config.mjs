import { defineConfig } from 'vitepress'

export default defineConfig({
  title: 'Quay',
  description: 'Quay plans berths for small harbours.',
  lang: 'en',
  srcExclude: ['tabs.md', 'node_modules/**'],
  sitemap: { hostname: 'https://quay.test/' },
  locales: { root: { label: 'English', lang: 'en' }, de: { label: 'Deutsch', lang: 'de' } },
  themeConfig: {
    footer: { message: 'Build 1001 of 2026-03-01' },
    i18nRouting: false,
    outline: 2,
    sidebar: [
      { text: 'Install', link: '/install' },
      { text: 'Moorings', link: '/guide/moorings' },
      { text: 'Tides', link: '/guide/tides' },
      { text: 'Pilots', link: '/guide/advanced/pilots' },
      { text: 'Upgrade', link: '/guide/upgrade' },
      { text: 'Backup', link: '/guide/backup' },
      { text: 'HTTP interface', link: '/api' },
      { text: 'Glossary', link: '/glossary' },
      { text: 'Support', link: '/support' },
      { text: 'Changelog', link: '/changelog' },
    ],
  },
})
