import sitemap from '@quasibit/eleventy-plugin-sitemap';

export default function (config) {
  config.addPlugin(sitemap, { sitemap: { hostname: 'https://quay.test' } });
  config.ignores.add('tabs.md');
  return { dir: { input: '.', output: '_site' } };
}
