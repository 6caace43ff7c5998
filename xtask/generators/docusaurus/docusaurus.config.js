// Documentation at the root, no blog; addresses have no slash at their end.
module.exports = {
  title: 'Quay',
  tagline: 'Quay plans berths for small harbours.',
  url: 'https://quay.test',
  baseUrl: '/',
  onBrokenLinks: 'warn',
  i18n: { defaultLocale: 'en', locales: ['en'] },
  presets: [
    [
      'classic',
      {
        docs: { routeBasePath: '/', sidebarPath: './sidebars.js', lastVersion: 'current' },
        blog: false,
        sitemap: { changefreq: 'weekly', priority: 0.5, filename: 'sitemap.xml' },
      },
    ],
  ],
  plugins: [
    ['@docusaurus/plugin-client-redirects', { redirects: [{ from: '/setup', to: '/install' }] }],
  ],
  themeConfig: {
    navbar: {
      title: 'Quay',
      items: [{ to: '/support', label: 'Support' }, { type: 'docsVersionDropdown' }],
    },
    docs: { sidebar: { hideable: false } },
    footer: { copyright: 'Build 1001 of 2026-03-01' },
  },
};
