export default "page.njk";
